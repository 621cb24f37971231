// The OpenAPI 3.1 document, from the endpoint table, the shapes and the catalogue: nothing in it is written twice.

import {
  CODES,
  type Code,
  entryOf,
  type JsonObject,
  jsonSchema,
  list,
  object,
  rejectionShape,
} from '@holdfast/contract'
import { type AnyEndpoint, isOpen, type RequestHeader } from '../endpoint.ts'
import { QUERY_PARAMETERS } from '../request/query-parameters.ts'
import type { OpenPage } from './open-page.ts'

/** What every endpoint may answer before its own work begins, and when a store is away. */
const COMMON_CODES: readonly Code[] = [
  'rate_limited',
  'header_invalid',
  'query_parameter_unknown',
  'query_parameter_invalid',
  'store_unavailable',
]
/** The same of one that wants a token. */
const TOKEN_CODES: readonly Code[] = ['unauthenticated', 'permission_denied', 'tenant_not_found']
/** A body where none is taken is refused too; that of a GET is not even read. */
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
      description: 'Every rejection carries a code of the catalogue; branch on the code, never on the text.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    security: [{ token: [] }],
    tags: [
      { name: 'api', description: 'The interface' },
      { name: 'open', description: 'Open to all' },
    ],
    paths: paths(endpoints, pages),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'hf_<id>_<secret>' } },
      schemas: { Rejection: rejectionSchema() },
      examples: Object.fromEntries(
        CODES.map((code) => [code, { summary: entryOf(code).why, value: exampleOf(code, publicUrl) }]),
      ),
    },
  }
}

function rejectionSchema(): JsonObject {
  const whole = object({ ...rejectionShape.fields, rejections: list(rejectionShape) })
  return jsonSchema(whole)
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
  for (const page of pages) found[page.path] = { get: pageOperation(page) }
  return found
}

function operation(endpoint: AnyEndpoint): object {
  const open = isOpen(endpoint)
  const common = open ? COMMON_CODES : [...TOKEN_CODES, ...COMMON_CODES]
  const codes = [...new Set([...common, ...bodyCodes(endpoint.method), ...endpoint.codes])]
  return {
    ...(open ? { security: [] } : {}),
    operationId: operationId(endpoint.method, endpoint.path),
    summary: endpoint.summary,
    tags: ['api'],
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
            content: { 'application/json': { schema: jsonSchema(endpoint.body) } },
          },
        }),
    responses: {
      ...successResponses(endpoint),
      ...refusals(codes),
    },
  }
}

function successResponses({ success, dryRun }: AnyEndpoint): object {
  const response = (description: string, schema: object) => ({
    description,
    content: { [success.type ?? 'application/json']: { schema } },
  })
  const done = jsonSchema(success.shape)
  if (dryRun === undefined) return { [success.status]: response('Done', done) }
  const plan = jsonSchema(dryRun)
  if (success.status === 200)
    return { 200: response('Done, or what a dry run would do', { anyOf: [done, plan] }) }
  return { [success.status]: response('Done', done), 200: response('What a dry run would do', plan) }
}

/** One answer for each status, with every code of that status as an example. */
function refusals(codes: readonly Code[]): object {
  const answers = codes.flatMap((code) => statusesOf(code).map((status) => ({ status, code })))
  const byStatus = Map.groupBy(answers, ({ status }) => status)
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [status, refusal(group.map(({ code }) => code))]),
  )
}

function statusesOf(code: Code): number[] {
  const { status, alternativeStatus } = entryOf(code)
  return alternativeStatus === undefined ? [status] : [status, alternativeStatus.status]
}

function refusal(codes: readonly Code[]): object {
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
  const schema = { $ref: '#/components/schemas/Rejection' }
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
  return { name, in: 'query', required: false, description: expected, schema }
}

const HEADER_TEXT: { readonly [name in RequestHeader]: string } = {
  'If-Match': 'The ETag that was read; another revision is refused',
  'Idempotency-Key': 'The same key gives the first answer again for 24 hours',
  'Last-Event-ID': 'The id of the last event that was read; the stream goes on behind it',
  'X-Tenant-ID': 'Confirms the tenant; a platform administrator chooses with it',
}

function headerParameters(endpoint: AnyEndpoint): object[] {
  const open = isOpen(endpoint)
  const names = open ? endpoint.headers : [...endpoint.headers, 'X-Tenant-ID' as const]
  return names.map((name) => ({
    name,
    in: 'header',
    required: name === 'X-Tenant-ID' && !open && endpoint.tenantRequired !== undefined,
    description: HEADER_TEXT[name],
    schema: name === 'X-Tenant-ID' ? { type: 'string', format: 'uuid' } : { type: 'string' },
  }))
}

function pageOperation({ path, summary, type, unwell }: DocumentedPage): object {
  const content = { [type]: { schema: { type: type === 'application/json' ? 'object' : 'string' } } }
  const down = unwell === undefined ? {} : { 503: { description: unwell, content } }
  return {
    operationId: operationId('get', path),
    summary,
    tags: ['open'],
    security: [],
    parameters: pathParameters(path),
    // Who asks for what no path can be is asked for a token first.
    responses: {
      200: { description: 'The page', content },
      ...down,
      ...refusals(['not_found', 'unauthenticated']),
    },
  }
}

function operationId(method: string, path: string): string {
  const words = path
    .replace('/api/v1', '')
    .split(/[^A-Za-z]+/)
    .filter((word) => word !== '')
  return [method.toLowerCase(), ...words.map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)].join('')
}
