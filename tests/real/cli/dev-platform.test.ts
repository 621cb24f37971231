// dev:up and dev:down as a developer runs them: separate processes, a separate folder, and no process or file left
// behind, even if a command is killed halfway.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { env, execPath } from 'node:process'
import { readContextsFile, writeContextsFile } from '@holdfast/cli/settings/contexts-file'
import { makeTempFolder, recordProcess, waitUntil } from '@holdfast/testkit'
import { createApiClient } from '@holdfast/testkit/platform/api-client'
import { afterEach, beforeEach, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
const NEVER = '1'

let home = makeTempFolder('dev')
let folder = ''
beforeEach(() => {
  home = makeTempFolder('dev')
  folder = join(home.path, 'platform')
})
afterEach(async () => {
  await run('dev-down').ended
  home.remove()
})

/** The contexts file of the CLI in this test, instead of the developer's own file. */
const contextsFile = () => join(home.path, 'contexts.yaml')
const OTHER = { url: 'https://holdfast.example', token: 'hf_other' }

function run(script: 'dev-up' | 'dev-down', variables: { [name: string]: string } = {}) {
  const child = spawn(execPath, [join(ROOT, `scripts/${script}.ts`), '--folder', folder], {
    env: { ...env, HOLDFAST_CONTEXTS_FILE: contextsFile(), ...variables },
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      text += data
    })
  }
  const ended = new Promise<{ status: number | null; text: string }>((resolve) => {
    child.once('close', (status) => resolve({ status, text }))
  })
  return { child, ended }
}

/** All processes of the development platform, found by the platform's folder on their command lines. */
function processesThere(): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return /^\d+$/.test(pid) && line.includes(folder) ? [`${pid} ${line}`] : []
    } catch {
      return []
    }
  })
}

const mode = (name: string) => (statSync(join(folder, name)).mode & 0o777).toString(8)
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const listed = (): { name: string; pid: number }[] =>
  existsSync(join(folder, 'processes.json')) ? JSON.parse(read('processes.json')) : []

/** Waits until the first engines of the platform run, while other engines and the server have not started. */
const halfWay = () =>
  waitUntil(() => listed().some(({ name }) => name === 'etcd-1' || name === 'registry'), {
    what: 'half of the platform is up',
  })
const nothingRuns = () => waitUntil(() => processesThere().length === 0, { what: 'every process has gone' })

test('dev:up starts a usable platform, and dev:down removes it', { timeout: 180_000 }, async () => {
  await writeContextsFile(contextsFile(), { current: 'other', contexts: { other: OTHER } })
  const up = await run('dev-up').ended
  expect(up).toMatchObject({ status: 0, text: expect.stringContaining('before dev:up it was other') })
  const platform = JSON.parse(read('env.json'))
  expect(platform).toEqual({
    baseUrl: expect.stringMatching(/^http:\/\/10\.99\.\d+\.1:\d+$/),
    dashboard: expect.stringMatching(/^http:\/\/localhost:\d+\/ui\/$/),
    platformToken: expect.stringMatching(/^hf_/),
    registry: expect.stringMatching(/^10\.99\.\d+\.1:\d+$/),
    sampleImage: `${platform.registry}/samples/hello:1.0`,
    tenants: ['acme', 'globex'].map((name) => ({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name,
      token: expect.stringMatching(/^hf_/),
    })),
    nodes: ['acme-1', 'acme-2', 'acme-3', 'globex-1', 'globex-2'].map((name) => ({
      id: expect.stringMatching(/^node_/),
      name,
      tenant: name.slice(0, -2),
      address: expect.stringMatching(/^10\.99\./),
      edge: expect.stringMatching(/^http:\/\/10\.99\./),
      engine: expect.stringMatching(/^unix:/),
    })),
    cli: { file: contextsFile(), before: 'other' },
  })
  const [acmeToken, globexToken] = platform.tenants.map(({ token }: { token: string }) => token)
  expect(await readContextsFile(contextsFile())).toEqual({
    ok: true,
    contexts: {
      current: 'dev-acme',
      contexts: {
        other: OTHER,
        'dev-acme': { url: platform.baseUrl, token: acmeToken },
        'dev-globex': { url: platform.baseUrl, token: globexToken },
      },
    },
  })
  expect(read('hello.yaml')).toContain(`image: ${platform.sampleImage}\n`)
  expect(mode('.')).toBe('700')
  for (const name of readdirSync(folder).filter((each) => statSync(join(folder, each)).isFile()))
    expect(`${name} ${mode(name)}`).toBe(`${name} 600`)
  expect(listed().map(({ name }) => name)).toHaveLength(7)

  const acme = createApiClient(platform.baseUrl, platform.tenants[0].token)
  const created = await acme.post('/api/v1/deployments', {
    kind: 'Deployment',
    name: 'web',
    image: platform.sampleImage,
  })
  expect(created.status).toBe(201)
  const phase = async () => Object((await acme.get('/api/v1/deployments/web')).body['status']).phase
  await waitUntil(async () => (await phase()) === 'Running', {
    what: 'the container runs',
    timeoutMs: 60_000,
  })
  const refused = await acme.post('/api/v1/deployments', { kind: 'Deployment', name: 'Web', replicas: -1 })
  expect(refused.codes).toEqual(['deployment_name_invalid', 'image_required', 'replicas_negative'])
  const globex = createApiClient(platform.baseUrl, platform.tenants[1].token)
  expect((await globex.get('/api/v1/deployments/web')).codes).toEqual(['deployment_not_found'])
  expect((await fetch(`${platform.baseUrl}/metrics`)).status).toBe(200)

  const before = [read('env.json'), read('processes.json')]
  const second = await run('dev-up').ended
  expect(second).toMatchObject({
    status: 0,
    text: expect.stringContaining(`already running at ${platform.baseUrl}`),
  })
  expect([read('env.json'), read('processes.json')]).toEqual(before)
  expect((await acme.get('/api/v1/deployments/web')).status).toBe(200)

  const down = await run('dev-down').ended
  expect(down).toMatchObject({
    status: 0,
    text: expect.stringMatching(/Stopped: etcd-1, .*keeper, registry, secrets-store, server\./),
  })
  // No context is current, so that a later command without a context cannot reach the wrong platform.
  expect(await readContextsFile(contextsFile())).toEqual({
    ok: true,
    contexts: { contexts: { other: OTHER } },
  })
  expect(processesThere()).toEqual([])
  expect(existsSync(folder)).toBe(false)
})

test('dev:up killed halfway: the platform stops on its own', async () => {
  const up = run('dev-up')
  await halfWay()
  up.child.kill('SIGKILL')
  await nothingRuns()
  await waitUntil(() => !existsSync(folder), { what: 'the folder has gone' })
})

test('the keeper process killed halfway: nothing keeps running, and dev:down removes the rest', async () => {
  const up = run('dev-up')
  await halfWay()
  const keeper = listed().find(({ name }) => name === 'keeper')
  process.kill(keeper?.pid ?? 0, 'SIGKILL')
  expect(await up.ended).toMatchObject({ status: 1 })
  await nothingRuns()
  expect(await run('dev-up').ended).toMatchObject({
    status: 1,
    text: expect.stringContaining('npm run dev:down'),
  })
  expect(await run('dev-down').ended).toMatchObject({ status: 0 })
  expect(existsSync(folder)).toBe(false)
})

test('dev:down during dev:up ends it', async () => {
  const up = run('dev-up')
  await halfWay()
  expect(await run('dev-down').ended).toMatchObject({ status: 0 })
  expect(processesThere().filter((line) => !line.includes('dev-up'))).toEqual([])
  expect(await up.ended).toMatchObject({ status: 1, text: expect.stringContaining('interrupted') })
  expect(existsSync(folder)).toBe(false)
})

test('a failed dev:up leaves nothing behind and prints the reason', async () => {
  const up = await run('dev-up', { HOLDFAST_ENGINES: join(home.path, 'no-engines') }).ended
  expect(up).toMatchObject({ status: 1, text: expect.stringContaining('npm run bootstrap') })
  expect(processesThere()).toEqual([])
  expect(existsSync(folder)).toBe(false)
})

test('dev:down leaves a process alone that has got a recorded id since', async () => {
  const stranger = spawn('sleep', ['60'])
  try {
    const { pid } = recordProcess(stranger.pid ?? 0)
    mkdirSync(folder, { mode: 0o700 })
    const recorded = [{ name: 'keeper', pid, startTicks: NEVER }]
    writeFileSync(join(folder, 'processes.json'), JSON.stringify(recorded))
    expect(await run('dev-down').ended).toMatchObject({
      status: 0,
      text: expect.stringContaining('nothing was running'),
    })
    expect(stranger.exitCode).toBe(null)
    expect(stranger.signalCode).toBe(null)
    expect(existsSync(folder)).toBe(false)
  } finally {
    stranger.kill('SIGKILL')
  }
})
