// Sets up a whole platform below a temporary folder, on real etcd and Vault: an interrupted setup continues, the token
// works, a further setup changes nothing, a sealed secrets store is unsealed again, and the doctor reports each state.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts, waitUntil } from '@holdfast/testkit'
import { expect, test } from 'vitest'
import { runDoctor } from '../doctor/run-doctor.ts'
import { answers } from './engines.ts'
import { FIRST_NAME, LOOPBACK, layoutBelow, type SetupOptions, UNITS } from './layout.ts'
import type { Machine } from './machine.ts'
import { SetupFault } from './performing.ts'
import type { ProcessMachine } from './process-machine.fixture.ts'
import type { SingleRun } from './run-setup.ts'
import { callApi, freeEnginePorts, openMachine, runOn } from './setup-world.fixture.ts'

async function openWorld(): Promise<{ options: SetupOptions; machine: ProcessMachine }> {
  const { root, engines, machine } = openMachine('setup')
  const ports = await freeEnginePorts()
  const [listen = 0] = await freePorts(1)
  const publicUrl = `https://localhost:${listen}`
  const own = { name: FIRST_NAME, address: LOOPBACK }
  return { options: { root, publicUrl, listenPort: listen, engines, ports, tenant: 'acme', ...own }, machine }
}

const run = (options: SetupOptions, machine: Machine, change: Partial<SingleRun> = {}) =>
  runOn(machine, {
    kind: 'single',
    options,
    address: undefined,
    dryRun: false,
    unsealKeyFile: undefined,
    ...change,
  })

/** Content, mode and time of change of every file below the configuration and of every process. */
function snapshot({ root }: SetupOptions, machine: ProcessMachine): readonly string[] {
  const { config, state } = layoutBelow(root)
  const files = [config, state].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const { mode, mtimeMs } = statSync(path)
      const hash = entry.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'folder'
      return `${path} ${mode.toString(8)} ${mtimeMs} ${hash}`
    }),
  )
  return [...files.toSorted(), ...Object.values(UNITS).map((unit) => `${unit} ${machine.pidOf(unit)}`)]
}

const getStatus = (options: SetupOptions, path: string, token: string): Promise<number | undefined> =>
  callApi(options, 'GET', path, token)

interface Diagnosed {
  readonly exitCode: number
  readonly findings: readonly { readonly check: string; readonly verdict: string }[]
}

async function runDoctorOn({ root }: SetupOptions, config: string, withDisk: boolean): Promise<Diagnosed> {
  const texts: string[] = []
  const out = (text: string) => void texts.push(text)
  const exitCode = await runDoctor({ config, withDisk, asJson: true, root }, { out })
  const found = JSON.parse(texts.join('')) as Diagnosed
  expect(found.exitCode).toBe(exitCode)
  return found
}

const isOfDisk = ({ check }: { readonly check: string }): boolean => check.startsWith('disk ')

/** The checks that are not healthy. How full the disk of the machine is does not belong to the test. */
async function diagnose(options: SetupOptions, config: string): Promise<readonly string[]> {
  const { findings } = await runDoctorOn(options, config, false)
  const ill = findings.filter((finding) => finding.verdict !== 'ok' && !isOfDisk(finding))
  return ill.map(({ check, verdict }) => `${check}: ${verdict}`)
}

async function diagnoseDisks(options: SetupOptions, config: string): Promise<void> {
  const disks = (await runDoctorOn(options, config, true)).findings.filter(isOfDisk)
  expect(disks.map(({ check }) => check.replace(/ of .*\//, ' of '))).toEqual([
    'disk space of etcd',
    'disk space of vault',
    'disk speed of etcd',
    'disk speed of vault',
  ])
  expect(disks.filter(({ verdict }) => verdict === 'unobserved')).toEqual([])
}

/** Four processes start one after another, which takes long on a machine that runs other suites. */
const ALL_STARTS_MS = 240_000

test('setup serves a platform, continues after an interruption and changes nothing when repeated', {
  timeout: ALL_STARTS_MS,
}, async () => {
  const { options, machine } = await openWorld()
  const plan = await run(options, machine, { dryRun: true })
  expect(plan.out.split('\n').length).toBeGreaterThan(20)
  expect(readdirSync(options.root)).toEqual([])

  const failing: Machine = {
    ...machine,
    start: (unit) => (unit === UNITS.broker ? Promise.reject(new Error('no')) : machine.start(unit)),
  }
  await expect(run(options, failing)).rejects.toThrow(SetupFault)
  const first = await run(options, machine)
  expect(first.exitCode, first.err).toBe(0)
  expect(first.err).not.toContain('create the platform')
  const shown: unknown = JSON.parse(first.out)
  expect(shown).toEqual({ token: expect.stringMatching(/^hf_/), unsealKey: expect.any(String) })
  const { token, unsealKey } = shown as { token: string; unsealKey: string }
  expect(first.err).not.toContain(token)
  expect(first.err).not.toContain(unsealKey)

  expect(await getStatus(options, '/api/v1/me', token)).toBe(200)
  expect(await getStatus(options, '/api/v1/me', `${token}x`)).toBe(401)
  expect(await getStatus(options, '/api/v1/tenants/acme', token)).toBe(200)
  const { config, state } = layoutBelow(options.root)
  for (const entry of readdirSync(config, { recursive: true, withFileTypes: true }))
    if (/key|secret-id/.test(entry.name))
      expect(statSync(join(entry.parentPath, entry.name)).mode & 0o777, entry.name).toBe(0o600)
  expect(readdirSync(state)).toEqual([])

  const before = snapshot(options, machine)
  expect(await run(options, machine)).toEqual({
    exitCode: 0,
    out: '',
    err: 'Everything is set up; nothing to do.\n',
  })
  expect(snapshot(options, machine)).toEqual(before)

  const layout = layoutBelow(options.root)
  for (const config of [layout.serverConfig, layout.brokerConfig])
    expect(await diagnose(options, config)).toEqual([])
  await diagnoseDisks(options, layout.serverConfig)
  await machine.restart(UNITS.secretsStore)
  await waitUntil(() => answers('secretsStore', options), { what: 'the secrets store answers' })
  expect(await diagnose(options, layout.serverConfig)).toEqual([
    'secrets store: failure',
    'secrets store identity api: unobserved',
    'secret id api: unobserved',
    'secrets store members: unobserved',
  ])
  expect(await run(options, machine)).toMatchObject({ exitCode: 1, out: '' })
  const unsealKeyFile = join(options.root, 'unseal-key')
  writeFileSync(unsealKeyFile, `${unsealKey}\n`)
  expect(await run(options, machine, { unsealKeyFile })).toMatchObject({ exitCode: 0, out: '' })
  expect(await diagnose(options, layout.serverConfig)).toEqual([])
})
