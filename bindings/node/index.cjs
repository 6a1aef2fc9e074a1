'use strict';
// Run commands in a box. The guide: docs/node.md; the types: index.d.ts.
const errors = require('./lib/errors.cjs');
const { Client, Pool, check, doctor, openPool, run, spawn, wrap } = require('./lib/client.cjs');
const { Process } = require('./lib/process.cjs');

module.exports = { Client, Pool, Process, check, doctor, openPool, run, spawn, wrap, ...errors };
