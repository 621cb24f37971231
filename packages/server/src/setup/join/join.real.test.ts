// Three machines on real etcd and Vault: a platform on loopback gets an address, two machines join it, and it accepts writes
// when the first one is lost and the secrets store of another was restarted.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts, waitUntil } from '@holdfast/testkit'
import { expect, test } from 'vitest'
import { runDoctor } from '../../doctor/run-doctor.ts'
import { FIRST_NAME, type Layout, layoutBelow, type Ports, UNITS } from '../layout.ts'
import type { Machine } from '../machine.ts'
import { SetupFault } from '../performing.ts'
import type { ProcessMachine } from '../process-machine.fixture.ts'
import { callApi, collect, freeEnginePorts, openMachine, runOn } from '../setup-world.fixture.ts'
import { runInvite } from './run-invite.ts'

interface TestMachine {
  readonly name: string
  readonly address: string
  readonly root: string
  readonly engines: string
  readonly machine: ProcessMachine
  readonly listenPort: number
  readonly layout: Layout
}

async function openNamed(name: string, address: string): Promise<TestMachine> {
  const [listenPort = 0] = await freePorts(1)
  const opened = openMachine(`join-${name}`)
  return { ...opened, name, address, listenPort, layout: layoutBelow(opened.root) }
}

/** All machines have the same ports, on loopback addresses of their own. */
const setUpFirst = ({ machine, ...first }: TestMachine, ports: Ports, change: object = {}) =>
  runOn(machine, {
    kind: 'single',
    options: { ...first, ports, publicUrl: `https://localhost:${first.listenPort}`, name: FIRST_NAME },
    address: undefined,
    dryRun: false,
    unsealKeyFile: undefined,
    ...change,
  })

const joinAs = (
  { machine, root, engines, listenPort }: TestMachine,
  ports: Ports,
  invitationFile: string,
  unsealKeyFile?: string,
  through: Machine = machine,
) =>
  runOn(through, {
    kind: 'join',
    options: { root, engines, ports },
    invitationFile,
    listenPort,
    dryRun: false,
    unsealKeyFile,
  })

const invite = (host: TestMachine, ports: Ports, guest: TestMachine, file: string) =>
  collect((output) => {
    const { name, address } = guest
    return runInvite({ name, address, file, root: host.root, ports }, host.machine, output)
  })

async function diagnose({ layout, root }: TestMachine): Promise<readonly string[]> {
  const config = layout.serverConfig
  const { out } = await collect((output) =>
    runDoctor({ config, withDisk: false, asJson: true, root }, output),
  )
  const { findings } = JSON.parse(out) as { findings: { check: string; verdict: string }[] }
  return findings
    .filter(({ check, verdict }) => verdict !== 'ok' && !check.startsWith('disk '))
    .map(({ check, verdict }) => `${check}: ${verdict}`)
}

/** A write reaches etcd and the secrets store, which creates a mount for the tenant. */
const createTenant = (on: TestMachine, token: string, name: string) =>
  callApi(on, 'POST', '/api/v1/tenants', token, { name })

const NOTHING = { exitCode: 0, out: '', err: 'Everything is set up; nothing to do.\n' }
const ALL_STARTS_MS = 900_000

test('three machines serve a platform that survives the loss of the first one', {
  timeout: ALL_STARTS_MS,
}, async () => {
  const ports = await freeEnginePorts()
  const one = await openNamed(FIRST_NAME, '127.0.0.2')
  const b = await openNamed('b', '127.0.0.3')
  const c = await openNamed('c', '127.0.0.4')

  const single = await setUpFirst(one, ports)
  expect(single.exitCode, single.err).toBe(0)
  const { token, unsealKey } = JSON.parse(single.out) as { token: string; unsealKey: string }
  const unsealKeyFile = join(one.root, 'unseal-key')
  writeFileSync(unsealKeyFile, `${unsealKey}\n`, { mode: 0o600 })
  const invitation = join(one.root, 'invitation')
  expect(await invite(one, ports, b, invitation)).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining('--address'),
  })

  const moved = await setUpFirst(one, ports, { address: one.address, unsealKeyFile })
  expect(moved.exitCode, moved.err).toBe(0)
  expect(await setUpFirst(one, ports)).toEqual(NOTHING)
  expect(await createTenant(one, token, 'before')).toBe(201)

  const outputs: string[] = [moved.err]
  for (const guest of [b, c]) {
    expect(await invite(one, ports, guest, invitation)).toMatchObject({ exitCode: 0, out: '' })
    expect(statSync(invitation).mode & 0o777).toBe(0o600)
    const keyless = await joinAs(guest, ports, invitation)
    expect(keyless).toMatchObject({ exitCode: 1, err: expect.stringContaining('--unseal-key-file') })
    expect(readdirSync(guest.root)).toEqual([])
    if (guest === b) await interrupt(guest, ports, invitation, unsealKeyFile)
    const joined = await joinAs(guest, ports, invitation, unsealKeyFile)
    expect(joined.exitCode, joined.err).toBe(0)
    outputs.push(joined.err, joined.out)
    expect(await joinAs(guest, ports, guest.layout.invitation)).toEqual(NOTHING)
  }
  const secrets = [token, unsealKey, readFileSync(one.layout.serverKey, 'utf8').trim()]
  for (const value of secrets) expect(outputs.join('')).not.toContain(value)

  const renamed = await setUpFirst(one, ports)
  expect(renamed.err).toContain(`https://${c.address}:${ports.etcd}`)
  expect((await joinAs(b, ports, b.layout.invitation)).exitCode).toBe(0)
  for (const each of [one, b, c]) expect(await diagnose(each), each.name).toEqual([])

  await one.machine.stop()
  const stored = async (on: TestMachine, name: string) =>
    waitUntil(async () => (await createTenant(on, token, name)) === 201, {
      what: `${on.name} stores a tenant`,
      timeoutMs: 60_000,
    })
  await stored(c, 'without-one')
  await b.machine.restart(UNITS.secretsStore)
  expect(await diagnose(c)).toContain('secrets store members: unobserved')
  const unsealed = await joinAs(b, ports, b.layout.invitation, unsealKeyFile)
  expect(unsealed.exitCode, unsealed.err).toBe(0)
  await stored(b, 'after-unseal')
  expect(await diagnose(b)).toEqual(['etcd members: warning', 'secrets store members: warning'])
})

/** Ends a join when etcd and the secrets store have their new member, and the server has no configuration. */
async function interrupt(guest: TestMachine, ports: Ports, invitation: string, unsealKeyFile: string) {
  const giveTo: Machine['giveTo'] = (path) => {
    if (path.includes('server.yaml')) throw new SetupFault('interrupted')
  }
  const failing = { ...guest.machine, giveTo }
  await expect(joinAs(guest, ports, invitation, unsealKeyFile, failing)).rejects.toThrow('interrupted')
}
