// The OpenAPI document, and a client generated from it.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CODES, type ShapeNode } from '@holdfast/contract'
import { makeTempFolder } from '@holdfast/testkit'
import { createApiClient } from '@holdfast/testkit/platform/api-client'
import { sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { gatherRaisedCodes } from '@holdfast/testkit/provocations/raised-codes'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')

/** Codes that no operation documents: the operation does not exist, or the code reports a bug of the server. */
const ANSWERED_NOWHERE = [
  'method_not_allowed',
  'secret_generate_would_persist',
  'secret_material_would_persist',
]

const folder = makeTempFolder('reference')
const documentFile = join(folder.path, 'openapi.json')
let platform: Platform
beforeAll(async () => {
  platform = await sharedPlatform()
  writeFileSync(documentFile, (await createApiClient(platform.baseUrl, undefined).get('/openapi.json')).text)
})
afterAll(async () => {
  await platform.stop()
  folder.remove()
})

const REDOCLY = '@redocly/cli/bin/cli.js'
// Two packages have a binary with the name openapi, so that tools are named by their files.
const CODEGEN = 'openapi-typescript-codegen/bin/index.js'
const TSC = '.bin/tsc'

/** Runs a tool of node_modules and returns its output; fails with the output if the tool does. */
function runTool(name: string, ...args: string[]): Promise<string> {
  const tool = join(ROOT, 'node_modules', name)
  return new Promise((resolve, reject) => {
    execFile(tool, args, { cwd: folder.path, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout + stderr)
      else reject(new Error(`${name}: ${stdout}${stderr}`))
    })
  })
}

describe('the OpenAPI document', () => {
  test('passes redocly', { timeout: 120_000 }, async () => {
    const output = await runTool(REDOCLY, 'lint', '--config', join(ROOT, 'redocly.yaml'), documentFile)
    expect(output).not.toMatch(/\d+ warnings?/)
  })

  test('lists every endpoint, and every code as an example with its status', async () => {
    const { paths, components } = await readDocument()
    for (const { method, path } of platform.server.endpoints) {
      const operation = paths[path]?.[method.toLowerCase()]
      expect(operation, `${method} ${path}`).toBeDefined()
      const statuses = Object.keys(operation.responses)
      expect(statuses.some((status) => status === '101' || status.startsWith('2'))).toBe(true)
    }
    expect(Object.keys(components.examples).sort()).toEqual([...CODES].sort())
    const answered = new Set(JSON.stringify(paths).match(/(?<=examples\/)\w+(?=")/g))
    const unanswered = [...gatherRaisedCodes()].filter((code) => !answered.has(code))
    expect(unanswered.sort()).toEqual(ANSWERED_NOWHERE)
    const { responses } = paths['/api/v1/deployments'].post
    expect(Object.keys(responses['422'].content['application/json'].examples)).toContain('replicas_negative')
    expect(Object.keys(responses['409'].content['application/json'].examples)).toContain('deployment_exists')
  })

  test('names the schema of every request, record and list item, and each name is used', async () => {
    const { paths, components } = await readDocument()
    const unnamed = platform.server.endpoints.flatMap(({ method, path }) => {
      const { requestBody, responses } = paths[path][method.toLowerCase()]
      return [requestBody, ...Object.values(responses)]
        .map((part) => Object(part).content?.['application/json']?.schema)
        .filter((schema) => schema !== undefined && !isNamed(schema))
        .map((schema) => `${method} ${path}: ${Object.keys(schema.properties ?? schema).join(', ')}`)
    })
    expect(unnamed).toEqual([])
    const used = new Set(JSON.stringify({ paths, components }).match(/(?<=schemas\/)\w+(?=")/g))
    expect(Object.keys(components.schemas).filter((name) => !used.has(name))).toEqual([])
  })

  test('every field of every request body has its texts', () => {
    const without = (shape: ShapeNode, at: string): string[] => {
      if (shape.kind === 'optional') return without(shape.inner, at)
      if (shape.kind === 'list') return without(shape.element, at)
      if (shape.kind !== 'object') return []
      return Object.entries(shape.fields).flatMap(([name, field]) => {
        const has = field.text ?? (field.kind === 'optional' ? field.inner.text : undefined)
        return [...(has === undefined ? [`${at}.${name}`] : []), ...without(field, `${at}.${name}`)]
      })
    }
    const bodies = platform.server.endpoints.flatMap(({ path, body }) =>
      body === undefined ? [] : [{ path, body }],
    )
    expect(bodies.length).toBeGreaterThan(10)
    expect(bodies.flatMap(({ path, body }) => without(body, path))).toEqual([])
  })

  test('generates a client that compiles and creates a deployment', { timeout: 120_000 }, async () => {
    const client = join(folder.path, 'client')
    await runTool(CODEGEN, '--input', documentFile, '--output', client, '--useOptions', '--useUnionTypes')
    const source = join(folder.path, 'use-client.ts')
    writeFileSync(source, CLIENT_PROGRAM)
    await runTool(
      TSC,
      ...['--noEmit', '--strict', '--target', 'esnext', '--lib', 'esnext,dom', '--types', ''],
      ...['--module', 'esnext', '--moduleResolution', 'bundler', source],
    )
    const outfile = join(folder.path, 'use-client.mjs')
    await build({ entryPoints: [source], outfile, bundle: true, format: 'esm', platform: 'node' })
    const { deploy } = await import(outfile)
    const { created, changed, names, code } = await deploy(
      platform.baseUrl,
      platform.acme.token,
      platform.image,
    )
    expect([created.name, created.replicas, changed.replicas]).toEqual(['generated', 2, 3])
    expect([names, code]).toEqual([['generated'], 'replicas_negative'])
  })
})

const readDocument = async () =>
  Object((await createApiClient(platform.baseUrl, undefined).get('/openapi.json')).body)

/** Whether a schema is a reference, or an object that only joins references: a page, or the plan of a dry run. */
function isNamed(schema: { readonly [keyword: string]: unknown }): boolean {
  const { $ref, anyOf, properties, type } = Object(schema)
  if ($ref !== undefined || type === 'string') return true
  if (Array.isArray(anyOf)) return anyOf.every(isNamed)
  const { items, alterations } = Object(properties)
  return (items ?? alterations)?.items?.$ref !== undefined
}

/** A program as a user of the generated client writes it; the compiler checks its types. */
const CLIENT_PROGRAM = `
import { ApiError, DeploymentsService, OpenAPI } from './client'
import type { Deployment, DeploymentWritten, DryRun, RejectedRequest } from './client'

const written = (result: DeploymentWritten | DryRun): Deployment => {
  if ('deployment' in result) return result.deployment
  throw new TypeError('a dry run')
}

export async function deploy(base: string, token: string, image: string) {
  OpenAPI.BASE = base
  OpenAPI.TOKEN = token
  const requestBody = { kind: 'Deployment', name: 'generated', image, replicas: 2 } as const
  const created = written(await DeploymentsService.createDeployment({ requestBody }))
  const changed = written(
    await DeploymentsService.updateDeployment({ name: created.name, requestBody: { replicas: 3 } }),
  )
  const { items } = await DeploymentsService.listDeployments({})
  const names: string[] = items.map(({ name }) => name)
  const code = await DeploymentsService.createDeployment({ requestBody: { ...requestBody, replicas: -1 } }).then(
    () => undefined,
    (error: ApiError) => (error.body as RejectedRequest).code,
  )
  return { created, changed, names, code }
}
`
