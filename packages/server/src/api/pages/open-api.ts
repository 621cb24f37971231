// Builds the OpenAPI 3.1 document from the endpoint table, the shapes and the catalogue of rejection codes.

import { CODES, type Code, entryOf, type JsonObject, list, object, rejectionShape } from '@holdfast/contract'
import { type AnyEndpoint, isOpen, type RequestHeader } from '../endpoint.ts'
import { QUERY_PARAMETERS, sentName } from '../request/query-parameters.ts'
import { namedSchemas, OPEN_API_TAGS, PAGES, schemaFor, tagOf } from './open-api-names.ts'
import type { OpenPage } from './open-page.ts'

/** Rejection codes of every endpoint: those of the checks before the handler, and of an unavailable store. */
const COMMON_CODES: readonly Code[] = [
  'rate_limited',
  'header_invalid',
  'query_parameter_unknown',
  'query_parameter_invalid',
  'store_unavailable',
]
/** The additional rejection codes of endpoints that require a token. */
const TOKEN_CODES: readonly Code[] = ['unauthenticated', 'permission_denied', 'tenant_not_found']
/** Rejection codes for the body by method. The body of a GET is not read, so its size is not checked. */
const bodyCodes = (method: AnyEndpoint['method']): readonly Code[] =>
  method === 'GET' ? ['body_malformed'] : ['body_malformed', 'body_too_large']

type DocumentedPage = Omit<OpenPage, 'render'>

export function openApiDocument(
  endpoints: readonly AnyEndpoint[],
  pages: readonly DocumentedPage[],
  publicUrl: string,
): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Holdfast',
      version: '1.0.0',
      summary: 'Multi-tenant container deployment control plane',
      description:
        'Every rejection has a code from the catalogue. Clients should branch on the code, never on the text.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    security: [{ token: [] }],
    tags: OPEN_API_TAGS,
    paths: paths(endpoints, pages),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'hf_<id>_<secret>' } },
      schemas: { ...namedSchemas(), RejectedRequest: rejectedSchema() },
      examples: Object.fromEntries(
        CODES.map((code) => [code, { summary: entryOf(code).why, value: exampleOf(code, publicUrl) }]),
      ),
    },
  }
}

/** The body of a rejected request: the first rejection, and all of them. */
function rejectedSchema(): JsonObject {
  return schemaFor(object({ ...rejectionShape.fields, rejections: list(rejectionShape) }))
}

function exampleOf(code: Code, publicUrl: string): object {
  const { field, expected, why } = entryOf(code)
  const one = {
    code,
    field: field.split(' | ')[0] ?? field,
    received: '',
    expected,
    why,
    doc: `${publicUrl}/docs/errors/${code}`,
  }
  return { ...one, rejections: [one] }
}

function paths(endpoints: readonly AnyEndpoint[], pages: readonly DocumentedPage[]): object {
  const found: { [path: string]: { [method: string]: object } } = {}
  for (const endpoint of endpoints) {
    found[endpoint.path] = { ...found[endpoint.path], [endpoint.method.toLowerCase()]: operation(endpoint) }
  }
  for (const page of pages) if (page.operation !== undefined) found[page.path] = { get: pageOperation(page) }
  return found
}

function operation(endpoint: AnyEndpoint): object {
  return {
    ...(isOpen(endpoint) ? { security: [] } : {}),
    operationId: endpoint.operation,
    summary: endpoint.summary,
    tags: [tagOf(endpoint.path)],
    parameters: [
      ...pathParameters(endpoint.path),
      ...endpoint.query.map(queryParameter),
      ...headerParameters(endpoint),
    ],
    ...(endpoint.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaFor(endpoint.body) } },
          },
        }),
    responses: {
      ...successResponses(endpoint),
      ...rejectionResponses(codesOf(endpoint)),
    },
  }
}

/** Every rejection code that an endpoint may return, including those of the checks before its handler. */
export function codesOf(endpoint: AnyEndpoint): Code[] {
  const common = isOpen(endpoint) ? COMMON_CODES : [...TOKEN_CODES, ...COMMON_CODES]
  return [...new Set([...common, ...bodyCodes(endpoint.method), ...endpoint.codes])]
}

function successResponses({ success, dryRun }: AnyEndpoint): object {
  const response = (description: string, schema: object) => ({
    description,
    content: { [success.type ?? 'application/json']: { schema } },
  })
  const { shape, short } = success
  const done = short === undefined ? schemaFor(shape) : { anyOf: [schemaFor(shape), schemaFor(short)] }
  if (dryRun === undefined) return { [success.status]: response('Done', done) }
  const plan = schemaFor(dryRun)
  if (success.status === 200)
    return { 200: response('Done, or the plan of a dry run', { anyOf: [done, plan] }) }
  return { [success.status]: response('Done', done), 200: response('The plan of a dry run', plan) }
}

/** Builds one response per HTTP status, with every rejection code of that status as an example. */
function rejectionResponses(codes: readonly Code[]): object {
  const statuses = codes.flatMap((code) => statusesOf(code).map((status) => ({ status, code })))
  const byStatus = Map.groupBy(statuses, ({ status }) => status)
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [status, rejectionResponse(group.map(({ code }) => code))]),
  )
}

function statusesOf(code: Code): number[] {
  const { status, alternativeStatus } = entryOf(code)
  return alternativeStatus === undefined ? [status] : [status, alternativeStatus.status]
}

function rejectionResponse(codes: readonly Code[]): object {
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
  const schema = { $ref: '#/components/schemas/RejectedRequest' }
  return { description: codes.join(', '), content: { 'application/json': { schema, examples } } }
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameter(name: keyof typeof QUERY_PARAMETERS): object {
  const { expected, schema } = QUERY_PARAMETERS[name]
  return { name: sentName(name), in: 'query', required: false, description: expected, schema }
}

export const HEADER_TEXT: { readonly [name in RequestHeader]: string } = {
  'If-Match': 'The ETag of the last read; the request is rejected if the revision has changed',
  'Idempotency-Key': 'Requests with the same key get the first response again for 24 hours',
  'Last-Event-ID': 'The id of the last received event; the stream continues after it',
  'Sec-Fetch-Site': 'Sent by browsers; the request is accepted only with the value same-origin',
  'X-Tenant-ID': 'Confirms the tenant; platform administrators choose a tenant with it',
}

export const headersOf = (endpoint: AnyEndpoint): readonly RequestHeader[] =>
  isOpen(endpoint) ? endpoint.headers : [...endpoint.headers, 'X-Tenant-ID']

function headerParameters(endpoint: AnyEndpoint): object[] {
  const open = isOpen(endpoint)
  return headersOf(endpoint).map((name) => ({
    name,
    in: 'header',
    required: name === 'X-Tenant-ID' && !open && endpoint.tenantRequired !== undefined,
    description: HEADER_TEXT[name],
    schema: name === 'X-Tenant-ID' ? { type: 'string', format: 'uuid' } : { type: 'string' },
  }))
}

function pageOperation({ path, operation: operationId, summary, type, unavailable }: DocumentedPage): object {
  const content = { [type]: { schema: { type: type === 'application/json' ? 'object' : 'string' } } }
  const down = unavailable === undefined ? {} : { 503: { description: unavailable, content } }
  return {
    operationId,
    summary,
    tags: [PAGES],
    security: [],
    parameters: pathParameters(path),
    // A malformed path without a token is rejected as unauthenticated, because the token is checked before the path.
    responses: {
      200: { description: 'The page', content },
      ...down,
      ...rejectionResponses(['not_found', 'unauthenticated']),
    },
  }
}
