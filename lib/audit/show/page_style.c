#include "audit/show/page.h"

/* Colours are chosen for a contrast of 4.5 or more on their ground. */
static const char page_style[] =
	":root{color-scheme:light dark;"
	"--ground:#f6f7f9;--card:#fff;--line:#dfe3e8;--text:#1b2430;"
	"--soft:#566273;--accent:#1f5fbf;--bar:#7aa7e8;--bad:#b3261e;"
	"--badbar:#e0675f;--badground:#fdeceb;--good:#1d6b3c;"
	"--goodground:#e7f5ec;--code:#eef1f5}"
	"@media(prefers-color-scheme:dark){:root{"
	"--ground:#11161d;--card:#1a212b;--line:#2c3644;--text:#e6ebf2;"
	"--soft:#9fadbf;--accent:#8ab8ff;--bar:#4c7fc9;--bad:#ff9c94;"
	"--badbar:#d9534a;--badground:#3a1f1f;--good:#7fd6a0;"
	"--goodground:#173325;--code:#242d39}}"
	"*{box-sizing:border-box}"
	"body{margin:0;background:var(--ground);color:var(--text);"
	"font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,"
	"\"Helvetica Neue\",sans-serif}"
	"main{max-width:70rem;margin:0 auto;padding:2rem 1.25rem 4rem}"
	"header{margin-bottom:1.5rem}"
	"h1{font-size:1.05rem;font-weight:600;color:var(--soft);margin:0 0 "
	".5rem}"
	"h1 b{color:var(--accent)}"
	"h2{font-size:1.1rem;margin:0 0 .75rem}"
	".command{font:600 1.35rem/1.35 ui-monospace,SFMono-Regular,Menlo,"
	"Consolas,monospace;overflow-wrap:anywhere;margin:0 0 .75rem}"
	".facts{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;margin:0;"
	"color:var(--soft)}"
	".facts div{display:flex;gap:.4rem;min-width:0}"
	".facts dt::after{content:\":\"}"
	".facts dd{margin:0;color:var(--text);overflow-wrap:anywhere}"
	"ul.holds{list-style:none;display:flex;flex-wrap:wrap;gap:.35rem;"
	"padding:0;margin:.9rem 0 0}"
	"ul.holds li{background:var(--goodground);color:var(--good);"
	"border-radius:1rem;padding:.05rem .65rem;font-size:.82rem}"
	"ul.holds li.missing{background:var(--badground);color:var(--bad)}"
	".cards{display:grid;gap:.75rem;margin:0 0 1.5rem;padding:0;"
	"grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr))}"
	".card,section{background:var(--card);border:1px solid var(--line);"
	"border-radius:.75rem}"
	".card{padding:.85rem 1rem;display:flex;flex-direction:column-reverse;"
	"margin:0}"
	".card dt{color:var(--soft);font-size:.85rem}"
	".card dd{margin:0;font-size:1.55rem;font-weight:650;"
	"font-variant-numeric:tabular-nums;line-height:1.2}"
	".card.bad dd{color:var(--bad)}.card.good dd{color:var(--good)}"
	"section{padding:1.1rem 1.25rem;margin:0 0 1.25rem}"
	"section>p{color:var(--soft);margin:.25rem 0}"
	".scroll{overflow-x:auto}"
	"svg{display:block;width:100%;height:9rem}"
	"svg .ok{fill:var(--bar)}svg .no{fill:var(--badbar)}"
	"svg .axis{stroke:var(--line);stroke-width:1}"
	".ends{display:flex;justify-content:space-between;color:var(--soft);"
	"font-size:.85rem;margin-top:.35rem}"
	".key{display:inline-block;width:.7rem;height:.7rem;"
	"border-radius:.15rem;margin:0 .35rem 0 .9rem;background:var(--bar)}"
	".key.no{background:var(--badbar)}"
	"table{border-collapse:collapse;width:100%;font-size:.9rem}"
	"caption{text-align:left;color:var(--soft);padding-bottom:.5rem}"
	"th,td{text-align:left;padding:.4rem .75rem .4rem 0;"
	"border-top:1px solid var(--line);vertical-align:top}"
	"th{color:var(--soft);font-weight:600;white-space:nowrap;"
	"border-top:0}"
	"tbody th{color:var(--text);font-weight:500;white-space:normal;"
	"border-top:1px solid var(--line);overflow-wrap:anywhere;"
	"min-width:10rem}"
	"td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;"
	"white-space:nowrap}"
	"td.w{overflow-wrap:anywhere;min-width:9rem}"
	"td.n+td:not(.n),th.n+th:not(.n){padding-left:.75rem}"
	"td.bars{width:22%;min-width:6rem;padding-right:0}"
	".bar{display:block;height:.7rem;border-radius:.2rem;"
	"background:var(--bar);margin-top:.35rem;min-width:2px}"
	".bar.no{background:var(--badbar);margin-top:.15rem}"
	".no,.ok,.port{white-space:nowrap}"
	"td .no{color:var(--bad);font-weight:600}td .ok{color:var(--good)}"
	".zero{color:var(--soft)}"
	"code{font:.88em ui-monospace,SFMono-Regular,Menlo,Consolas,"
	"monospace;background:var(--code);border-radius:.3rem;"
	"padding:.1rem .35rem;overflow-wrap:anywhere;"
	"-webkit-box-decoration-break:clone;box-decoration-break:clone}"
	"code.id{white-space:nowrap}"
	".chain{color:var(--soft);font-size:.85rem}"
	"summary{cursor:pointer;font-weight:600;font-size:1.1rem}"
	"summary h2{display:inline}"
	"details[open]>summary{margin-bottom:.75rem}"
	"time{white-space:nowrap;font-variant-numeric:tabular-nums}"
	"footer{color:var(--soft);font-size:.85rem}"
	"@media(max-width:40rem){main{padding:1rem .75rem 3rem}"
	"section{padding:.9rem .85rem}.command{font-size:1.1rem}"
	"td.bars,th.bars{display:none}"
	".stack,.stack tbody,.stack tr,.stack td{display:block}"
	".stack caption{display:block}.stack thead{display:none}"
	"table{font-size:.82rem}th,td{padding-right:.5rem}"
	"tbody th{min-width:7.5rem}"
	".stack tr{border-top:1px solid var(--line);padding:.6rem 0}"
	".stack td,.stack td.n{border:0;padding:.1rem 0 .1rem 5.5rem!important;"
	"position:relative;text-align:left;min-height:1.6em}"
	".stack td::before{content:attr(data-name);position:absolute;left:0;"
	"color:var(--soft)}}"
	"@media print{body{background:#fff}section,.card{break-inside:avoid}}";

void ab_page_begin(struct ab_buf *b, const char *title, const char *more_style)
{
	ab_buf_printf(b,
		      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		      "<meta http-equiv=\"Content-Security-Policy\" "
		      "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
		      "<meta name=\"color-scheme\" content=\"light dark\">"
		      "<meta name=\"referrer\" content=\"no-referrer\">"
		      "<title>%s</title><style>%s%s</style></head>\n<body><main>",
		      title, page_style, more_style);
}

void ab_page_markup(struct ab_buf *b, const char *text, size_t len)
{
	static const char special[] = "&<>\"'";
	static const char *const escaped[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };
	size_t from = 0;

	for (size_t i = 0; i < len; i++) {
		const char *which = text[i] ? strchr(special, text[i]) : NULL;

		if (!which)
			continue;
		ab_buf_add(b, text + from, i - from);
		ab_buf_puts(b, escaped[which - special]);
		from = i + 1;
	}
	ab_buf_add(b, text + from, len - from);
}
