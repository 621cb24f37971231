// Answers requests below /ui/: hashed assets that never change, and the page for every path that the dashboard knows. The
// page holds no data, so it needs no sign-in. See docs/design/api.md#dashboard.

import type { UiFile, UiFiles } from './load-files.ts'

export interface UiRequest {
  /** The path below /ui/. */
  readonly path: string
  readonly acceptEncoding: string
  readonly ifNoneMatch: string | undefined
}

export interface UiResponse {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: Uint8Array | string
}

/** Answers a request; undefined if the path is an asset that does not exist. */
export type AnswerUi = (request: UiRequest) => UiResponse | undefined

const HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const ASSETS = 'assets/'
const YEAR_SECONDS = 31_536_000

export function createAnswerUi({ index, others }: UiFiles, newNonce: () => string): AnswerUi {
  return (request) => {
    const file = others.get(request.path)
    if (file !== undefined) return fileResponse(request, file)
    return isAsset(request.path) ? undefined : pageResponse(index, newNonce())
  }
}

/** Names of nodes may contain dots, so only a path of one part is an asset because of its ending. */
const isAsset = (path: string): boolean => path.startsWith(ASSETS) || /^[^/]*\.[^/]*$/.test(path)

/**
 * The policy of the page. The nonce is for the style elements of the terminal and the editor, and style attributes for the
 * terminal's colors; scripts come from files only, and no text becomes markup or code.
 */
const contentSecurityPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src-elem 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

/** The page reads its nonce from the element, which scripts can read and selectors of injected styles cannot. */
function pageResponse(index: string, nonce: string): UiResponse {
  return {
    status: 200,
    headers: {
      ...HEADERS,
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': contentSecurityPolicy(nonce),
    },
    body: index.replace('<head>', () => `<head>\n    <meta property="csp-nonce" nonce="${nonce}" />`),
  }
}

function fileResponse({ path, acceptEncoding, ifNoneMatch }: UiRequest, file: UiFile): UiResponse {
  const coding = codingOf(acceptEncoding, file)
  const headers = {
    ...HEADERS,
    'content-type': file.type,
    // The name of an asset contains a hash of its content; other files keep their names.
    'cache-control': path.startsWith(ASSETS) ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
    vary: 'accept-encoding',
    etag: file.etag,
    ...(coding === undefined ? {} : { 'content-encoding': coding }),
  }
  if (ifNoneMatch === file.etag) return { status: 304, headers, body: '' }
  return { status: 200, headers, body: (coding && file[coding === 'br' ? 'br' : 'gzip']) ?? file.bytes }
}

/** The smallest form that the client accepts. A coding with `q=0` is refused by the client. */
function codingOf(acceptEncoding: string, { br, gzip }: UiFile): 'br' | 'gzip' | undefined {
  const accepted = acceptEncoding
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => !/;\s*q=0(?:\.0*)?$/.test(part))
    .map((part) => part.split(';')[0])
  if (br !== undefined && accepted.includes('br')) return 'br'
  return gzip !== undefined && accepted.includes('gzip') ? 'gzip' : undefined
}
