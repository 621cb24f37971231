// The packed libraries work in a project that has nothing but them: npm installs them, TypeScript knows their types, Node runs
// them.

import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { promisify } from 'node:util'
import { makeTempFolder } from '@holdfast/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildLibraries } from '../../../scripts/package/build-libraries.ts'

const ROOT = join(import.meta.dirname, '../../..')
const folder = makeTempFolder('packed-libraries')
const project = join(folder.path, 'project')
const archives = join(folder.path, 'archives')
const run = promisify(execFile)
/** tsc and npm are processes that use the CPU; other tests may use all of it at the same time. */
const DEADLINE_MS = 300_000
afterAll(() => folder.remove())

const compiler = {
  strict: true,
  skipLibCheck: false,
  module: 'NodeNext',
  target: 'ES2024',
  lib: ['ES2024', 'DOM', 'DOM.AsyncIterable'],
}

beforeAll(async () => {
  await buildLibraries(join(folder.path, 'work'), archives)
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{"type": "module"}')
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...compiler, types: [], noEmit: true } }),
  )
  // The only dependency that npm would download is in the repository's own modules.
  const yaml = join(ROOT, 'node_modules/yaml')
  await run('npm', ['pack', yaml, '--pack-destination', archives, '--silent', '--ignore-scripts'])
  const packed = readdirSync(archives).map((name) => join(archives, name))
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...packed], { cwd: project })
}, DEADLINE_MS)

const check = () => run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project], { cwd: project })

test(
  'the types of the client are found and reject a wrong call',
  async () => {
    writeFileSync(
      join(project, 'right.ts'),
      `import { createClient, type Client } from '@holdfast/client'
const client: Client = createClient({ baseUrl: 'http://127.0.0.1:1', token: 'x' })
const read = await client.deployments.read('web')
export const replicas: number | undefined = read.ok ? read.value.replicas : undefined
`,
    )
    await check()
    writeFileSync(
      join(project, 'wrong.ts'),
      `import { createClient } from '@holdfast/client'
export const client = createClient({ baseUrl: 1 })
`,
    )
    await expect(check()).rejects.toMatchObject({ stdout: expect.stringContaining('wrong.ts(2,') })
    rmSync(join(project, 'wrong.ts'))
  },
  DEADLINE_MS,
)

test(
  'the checks of manifests find the place of a fault, with types',
  async () => {
    writeFileSync(
      join(project, 'manifest.ts'),
      `import { checkManifest, locateRejection, parseSource, positionOf } from '@holdfast/manifest'
import { translateCompose } from '@holdfast/manifest/compose'
const text = 'kind: Deployment\\nname: web\\nimage: example.com/web:1.0\\nreplicas: -1\\n'
const { manifests } = parseSource({ name: 'web.yaml', bytes: new TextEncoder().encode(text) })
export const found = manifests.flatMap((manifest) =>
  checkManifest(manifest).map((rejection) => {
    const { line, column } = positionOf(manifest.file, locateRejection(manifest, rejection).start)
    return [rejection.field, line, column]
  }),
)
console.log(JSON.stringify([found, typeof translateCompose]))
`,
    )
    await check()
    const { stdout } = await run(execPath, ['manifest.ts'], { cwd: project, timeout: DEADLINE_MS })
    expect(JSON.parse(stdout)).toEqual([[['replicas', 4, 11]], 'function'])
  },
  DEADLINE_MS,
)

test(
  'the client calls a server',
  async () => {
    const paths: string[] = []
    const server = createServer(({ url = '' }, response) => {
      paths.push(url)
      response.writeHead(403, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({
          rejections: [{ code: 'forbidden', field: '', message: 'Not allowed.', params: {} }],
        }),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const program = `import { createClient } from '@holdfast/client'
const read = await createClient({ baseUrl: 'http://127.0.0.1:${port}', token: 'x' }).deployments.read('web')
console.log(JSON.stringify(read))`
    try {
      const { stdout } = await run(execPath, ['--input-type=module', '--eval', program], {
        cwd: project,
        timeout: DEADLINE_MS,
      })
      expect(JSON.parse(stdout)).toMatchObject({ ok: false, failure: { status: 403 } })
      expect(paths).toEqual(['/api/v1/deployments/web'])
    } finally {
      server.close()
    }
  },
  DEADLINE_MS,
)
