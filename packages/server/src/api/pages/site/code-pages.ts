// The pages of error codes: what each means on this server, a request that fails with it, and one that passes.

import { CODES, type Code, entryOf, fillIn, isCode, placeholdersOf, type Rejection } from '@holdfast/contract'
import { type CodeExample, type ExampleRequest, exampleOf } from '@holdfast/contract/examples'
import { admissionContext, checkBody, type Limits } from '@holdfast/core'
import { stringify } from 'yaml'
import type { AnyEndpoint } from '../../endpoint.ts'
import { markdownToHtml } from '../markdown-page.ts'
import { codesOf } from '../open-api.ts'
import { code, type Html, html, joined, link, list, rawHtml, withCode } from './html.ts'
import type { SitePage } from './layout.ts'
import { operationLink } from './operation-pages.ts'
import type { SearchEntry } from './search.ts'

export interface CodePageDeps {
  readonly endpoints: readonly AnyEndpoint[]
  readonly limits: Limits
}

const hrefOf = (each: Code): string => `/docs/errors/${each}`

export function codeIndexPage({ limits }: CodePageDeps): SitePage {
  const [used, reserved] = [CODES.filter(exists), CODES.filter((each) => !exists(each))]
  const row = (each: Code) =>
    html`${link(hrefOf(each), code(each))} <span class="soft">${entryOf(each).status}</span><br>${textsOf(each, limits).why}`
  return {
    title: 'Codes',
    body: html`<h1>Codes</h1>
<p>Every rejection has one of these codes. Branch on the code, never on the text. A rejected request stores nothing, and its response lists all faults at once, each with the field, the received value and the accepted form.</p>
${list(used.map(row))}
<h2>Reserved codes</h2>
<p>This version does not return them: ${joined(
      reserved.map((each) => link(hrefOf(each), code(each))),
      ', ',
    )}.</p>`,
  }
}

/** Whether this version can return a code: requests cause it, or it reports a bug of the server (status 500). */
const exists = (each: Code): boolean => exampleOf(each) !== undefined || entryOf(each).status === 500

export function codePage(deps: CodePageDeps, name: string): SitePage | undefined {
  if (!isCode(name)) return undefined
  const { status, alternativeStatus, field, doc } = entryOf(name)
  const { expected, why } = textsOf(name, deps.limits)
  const callers = deps.endpoints.filter((endpoint) => codesOf(endpoint).includes(name))
  return {
    title: name,
    body: html`<h1><code>${breakable(name)}</code></h1>
<p>${withCode(why)}</p>
<dl><dt>Status</dt><dd>${status}${
      alternativeStatus === undefined
        ? undefined
        : html`; ${alternativeStatus.status} when ${alternativeStatus.when}`
    }</dd>
<dt>Field</dt><dd>${fieldsOf(field, exampleOf(name)?.field)}</dd>
<dt>Accepted</dt><dd>${expected}</dd></dl>
${isFilledIn(name) ? html`<p class="soft">Names and numbers are those of the example below.</p>` : undefined}
<h2>Cause and fix</h2>
${rawHtml(linkCodes(markdownToHtml(doc), name))}
${examples(name, deps.limits)}
${callers.length === 0 ? undefined : html`<h2>Returned by</h2>${list(callers.map(operationLink))}`}`,
  }
}

/** Links each mention of another code to its page. */
const linkCodes = (text: string, self: Code): string =>
  text.replaceAll(/<code>([a-z_]+)<\/code>/g, (shown, name: string) =>
    isCode(name) && name !== self ? link(hrefOf(name), code(name)).html : shown,
  )

/** Lets a browser break a long code after each underscore. */
const breakable = (name: string): Html => html`${joinedRaw(name.split('_'), rawHtml('_<wbr>'))}`

const joinedRaw = (parts: readonly string[], separator: Html): Html[] =>
  parts.flatMap((part, index) => (index === 0 ? [html`${part}`] : [separator, html`${part}`]))

/** The fields of a code. A pattern that stands for any field, header or parameter is explained by the example's field. */
function fieldsOf(patterns: string, example: string | undefined): Html {
  const shown = patterns.split(' | ').map((pattern) => {
    const [, kind] = /^<(\w+)>$/.exec(pattern) ?? []
    return kind === undefined || example === undefined
      ? code(pattern)
      : html`any ${kind}, here ${code(example)}`
  })
  return html`${joined(shown, ', ')}`
}

/** Whether the texts of a code have parts that differ from request to request. */
function isFilledIn(each: Code): boolean {
  const { expected, why, field } = entryOf(each)
  const names = placeholdersOf(`${expected} ${why}`)
  const differs = names.some((name) => !LIMITS.has(name) || field.startsWith('<'))
  return differs && exampleOf(each) !== undefined
}

/** Placeholders that hold a limit of the server, the same for every request. */
const LIMITS: ReadonlySet<string> = new Set(['max', 'floor', 'min', 'ceiling', 'bits'])

export const codeEntries = ({ limits }: CodePageDeps): SearchEntry[] =>
  CODES.filter(exists).map((each) => ({
    name: each,
    kind: 'Code',
    text: textsOf(each, limits).why,
    href: hrefOf(each),
  }))

/** The texts of a code as this server fills them in. Rules of a body are run on the example, so their numbers are right. */
function textsOf(each: Code, limits: Limits): Pick<Rejection, 'expected' | 'why'> {
  const example = exampleOf(each)
  const rejection = example === undefined ? undefined : rejectionOf(each, example, limits)
  if (rejection !== undefined) return rejection
  const { expected, why } = entryOf(each)
  return { expected: withDots(expected), why: withDots(why) }
}

/** Replaces the placeholders of a text by dots, for reserved codes and unusual limits. */
const withDots = (text: string): string =>
  fillIn(text, Object.fromEntries(placeholdersOf(text).map((name) => [name, '…'])))

/** The rejection of the failing example: made by the rules of a deployment body, or with the example's own values. */
function rejectionOf(
  each: Code,
  { fails, field, params }: CodeExample,
  limits: Limits,
): Pick<Rejection, 'code' | 'field' | 'expected' | 'why'> | undefined {
  if (params === undefined)
    return checkBody(fails.body ?? null, admissionContext({ limits })).find(
      ({ code: found }) => found === each,
    )
  const { expected, why } = entryOf(each)
  return { code: each, field, expected: fillIn(expected, params), why: fillIn(why, params) }
}

function examples(each: Code, limits: Limits): Html {
  const example = exampleOf(each)
  if (example === undefined)
    return exists(each)
      ? html`<p>No request causes it.</p>`
      : html`<p>The code is reserved: no request to this version of Holdfast returns it.</p>`
  const rejection = rejectionOf(each, example, limits)
  return html`<h2>Examples</h2>
${example.given === undefined ? undefined : html`<p>${example.given}</p>`}
<div class="bad"><h3>Rejected</h3>
${requestText(example.fails)}
${rejection === undefined ? undefined : html`<p>The response, in part:</p><pre><code>${JSON.stringify(pick(rejection), undefined, 2)}</code></pre>`}</div>
<div class="good"><h3>Accepted</h3>
${example.passes === undefined ? html`<p>The same request, once the cause is gone.</p>` : requestText(example.passes)}</div>`
}

const pick = ({
  code: each,
  field,
  expected,
  why,
}: Pick<Rejection, 'code' | 'field' | 'expected' | 'why'>) => ({
  code: each,
  field,
  expected,
  why,
})

function requestText({ method, path, headers = {}, body, role }: ExampleRequest): Html {
  const lines = [`${method} ${path}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  const isManifest = method === 'POST' && path === '/api/v1/deployments' && !Array.isArray(body)
  const shown = body === undefined ? undefined : shorten(body)
  return html`<p>${sender(role)}</p><pre><code>${lines.join('\n')}</code></pre>
${
  shown === undefined
    ? undefined
    : html`<pre><code>${isManifest ? stringify(shown).trimEnd() : JSON.stringify(shown, undefined, 2)}</code></pre>`
}`
}

function sender(role: ExampleRequest['role']): string {
  if (role === undefined) return 'Request:'
  return role === 'none' ? 'Request without a token:' : `Request with a token of the role ${role}:`
}

const LONGEST_TEXT = 200
const LONGEST_LIST = 4

/** Shortens long texts and lists, which some examples need to exceed a limit. */
function shorten(value: unknown): unknown {
  if (typeof value === 'string' && value.length > LONGEST_TEXT)
    return `${value.slice(0, 20)}… (${value.length} characters)`
  if (Array.isArray(value) && value.length > LONGEST_LIST)
    return [...value.slice(0, 2).map(shorten), `… (${value.length} entries)`]
  if (Array.isArray(value)) return value.map(shorten)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shorten(each)]))
}
