// The frame of every page of the reference: title, navigation, search field, style.

import { VERSION } from '@holdfast/contract'
import { type Html, html, rawHtml } from './html.ts'

const SECTIONS: readonly (readonly [href: string, label: string])[] = [
  ['/docs/manifest', 'Manifest'],
  ['/docs/api', 'API'],
  ['/docs/schemas', 'Schemas'],
  ['/docs/errors', 'Codes'],
  ['/docs/words', 'Words'],
  ['/docs/events', 'Events'],
  ['/docs/roles', 'Roles'],
]

export interface SitePage {
  readonly title: string
  readonly body: Html
}

/** The whole document of a page. `path` marks the section of the page in the navigation. */
export function htmlPage({ title, body }: SitePage, path: string, query = ''): string {
  const entry = ([href, label]: readonly [string, string]) =>
    html`<li><a href="${href}"${rawHtml(path.startsWith(href) ? ' aria-current="page"' : '')}>${label}</a></li>`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === HOME_TITLE ? title : `${title} - ${HOME_TITLE}`}</title>
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<link rel="stylesheet" href="/docs/style.css">
<script src="/docs/search.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="brand"><a href="/docs/">Holdfast</a></p>
<nav aria-label="Reference"><ul>${SECTIONS.map(entry)}</ul></nav>
<form role="search" action="/docs/search" method="get">
<label for="q">Search the reference</label>
<input id="q" name="q" type="search" maxlength="100" autocomplete="off" placeholder="Field, code, event" value="${query}">
<button>Search</button>
</form>
<section id="results" aria-label="Search results" aria-live="polite" hidden></section>
</header>
<main id="main">
${body}
</main>
<footer><p>Holdfast ${VERSION}. <a href="/openapi.json">OpenAPI document</a></p></footer>
</body>
</html>
`.html
}

export const HOME_TITLE = 'Holdfast reference'

/** Nothing is loaded from another origin, nothing inline runs, and no other site can frame the pages. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b4f8a"/><path d="M9 7v18M23 7v18M9 16h14" stroke="#fff" stroke-width="4" stroke-linecap="round" fill="none"/></svg>'

export const STYLE = `:root{color-scheme:light dark;--text:#1b1f24;--soft:#4a535c;--line:#d0d7de;--page:#fff;--box:#f4f6f8;--link:#0a58a8;--bad:#a11a12;--good:#17652b}
@media(prefers-color-scheme:dark){:root{--text:#e6e8ea;--soft:#aab4be;--line:#3d444d;--page:#12161a;--box:#1d2329;--link:#86b7ff;--bad:#ff9a91;--good:#7fd694}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;font:1rem/1.55 system-ui,sans-serif;color:var(--text);background:var(--page);overflow-wrap:anywhere}
a{color:var(--link);text-underline-offset:.3em;text-decoration-thickness:1px}
a:focus-visible,input:focus-visible,button:focus-visible,summary:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-100vw}
.skip:focus{left:1rem;top:.5rem;background:var(--page);padding:.5rem}
header,main,footer{max-width:62rem;margin:0 auto;padding:0 1rem}
header{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;align-items:center;padding-top:.75rem;padding-bottom:.75rem;border-bottom:1px solid var(--line)}
.brand{margin:0;font-weight:700;font-size:1.15rem}
.brand a{color:inherit;text-decoration:none}
nav ul{display:flex;flex-wrap:wrap;gap:0 1rem;list-style:none;margin:0;padding:0}
nav a{display:inline-block;padding:.35rem 0}
nav a[aria-current]{font-weight:700;color:var(--text)}
form{display:flex;gap:.5rem;margin-left:auto;align-items:center}
form label{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
input,button{font:inherit;color:inherit;background:var(--page);border:1px solid var(--soft);border-radius:6px;padding:.35rem .6rem;min-width:0}
input{width:13rem}
::placeholder{color:var(--soft);opacity:1}
button{background:var(--box)}
#results{flex-basis:100%;background:var(--box);border:1px solid var(--line);border-radius:8px;padding:.25rem 1rem .75rem}
#results[hidden]{display:none}
#results ul,.found{list-style:none;padding:0;margin:0}
#results li,.found li{padding:.3rem 0;color:var(--soft)}
main{padding-top:.5rem;padding-bottom:3rem}
footer{border-top:1px solid var(--line);color:var(--soft)}
h1{font-size:1.7rem;line-height:1.25;margin:1rem 0 .5rem}
h2{font-size:1.25rem;margin:2rem 0 .5rem}
h3{font-size:1rem;margin:1.4rem 0 .25rem}
p,ul{margin:.5rem 0}
ul{padding-left:1.25rem}
li{margin:.15rem 0}
code{font:.92em/1.45 ui-monospace,monospace;background:var(--box);padding:.1em .3em;border-radius:4px}
h1 code,h2 code,h3 code{background:none;padding:0}
pre{background:var(--box);border:1px solid var(--line);border-radius:8px;padding:.75rem 1rem;white-space:pre-wrap;margin:.5rem 0}
pre code{background:none;padding:0}
dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.35rem 1rem;margin:.75rem 0}
dt{color:var(--soft)}
dd{margin:0;min-width:0}
.soft{color:var(--soft)}
.entry{border-top:1px solid var(--line);padding:.1rem 0 .6rem}
.method{font-weight:700}
.bad,.good{border-left:4px solid var(--bad);padding-left:1rem}
.good{border-color:var(--good)}
.bad h3{color:var(--bad)}
.good h3{color:var(--good)}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(16rem,1fr));gap:1rem;list-style:none;padding:0}
.tiles li{border:1px solid var(--line);border-radius:8px;padding:.75rem 1rem;margin:0}
.tiles p{margin:.25rem 0 0;color:var(--soft)}
@media(max-width:46rem){form{margin-left:0;flex-basis:100%}input{flex:1}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}
@media print{header,footer{display:none}}
`
