// An HTTP/2 server: node's own. h2.js PORT CERTIFICATE KEY LOG
// Each request is one line of LOG: its fields, its body and the number of its
// connection. Paths: /echo (the body), /say?WORD, /slow (never answers), /big?N,
// /trailers, /part (206), /early (before the body), /reset, /hints, /leave (GOAWAY).
'use strict';
const fs = require('fs');
const http2 = require('http2');
const [port, cert, key, log] = process.argv.slice(2);
const record = (what) => fs.appendFileSync(log, JSON.stringify(what) + '\n');
const secure = cert !== '-';
const server = secure
	? http2.createSecureServer({ cert: fs.readFileSync(cert), key: fs.readFileSync(key) })
	: http2.createServer();
let sessions = 0;
server.on('session', (session) => { session.number = ++sessions; session.on('error', () => {}); });
server.on('stream', (stream, headers) => {
	const [path, query] = headers[':path'].split('?');
	const chunks = [];
	const done = (body) => record({ session: stream.session && stream.session.number, headers, body });
	stream.on('error', () => {});
	stream.on('close', () => { if (stream.rstCode === http2.constants.NGHTTP2_CANCEL) record({ cancelled: path }); });
	const ways = {
		'/slow': () => { done(''); stream.respond({ ':status': 200 }); },
		'/big': () => {
			let left = Number(query);
			stream.respond({ ':status': 200, 'content-length': String(left) });
			const more = () => {
				while (left > 0) {
					const n = Math.min(left, 65536);
					left -= n;
					if (!stream.write(Buffer.alloc(n, 'x'))) { stream.once('drain', more); return; }
				}
				stream.end();
			};
			done('');
			more();
		},
		'/part': () => { done(''); stream.respond({ ':status': 206, 'content-range': 'bytes 0-2/9' }); stream.end('par'); },
		'/early': () => { done(''); stream.respond({ ':status': 413 }); stream.end('enough'); },
		'/reset': () => { done(''); stream.close(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM); },
		'/leave': () => { done(''); stream.respond({ ':status': 200 }); stream.end('bye'); stream.session.goaway(0); },
	};
	// The client may have reset it meanwhile: to answer then throws, and would end this server.
	if (stream.destroyed) return;
	if (ways[path]) { ways[path](); return; }
	stream.on('data', (chunk) => chunks.push(chunk));
	stream.on('end', () => {
		const body = Buffer.concat(chunks);
		done(body.length > 1000 ? String(body.length) : body.toString('latin1'));
		if (stream.destroyed) return;
		if (path === '/hints') stream.additionalHeaders({ ':status': 103, link: '</x>' });
		if (path === '/trailers') {
			stream.respond({ ':status': 200, trailer: 'x-said' }, { waitForTrailers: true });
			stream.on('wantTrailers', () => stream.sendTrailers({ 'x-said': headers.authorization || 'nothing' }));
			stream.end('body');
			return;
		}
		stream.respond({ ':status': 200, 'x-proto': 'h2' });
		stream.end(path === '/echo' ? body : path === '/say' ? query + ' ' + (headers.authorization || '') + '\n' : 'hello ' + path + '\n');
	});
});
server.listen(Number(port), '203.0.113.10', () => record({ listening: port }));
