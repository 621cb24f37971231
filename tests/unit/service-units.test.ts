// The systemd units of every program: the directives on which readiness, reload and hardening depend, and the exposure
// that systemd-analyze computes.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeTempFolder } from '@holdfast/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'

const pathOf = (unit: string): string => fileURLToPath(new URL(`../../packages/${unit}`, import.meta.url))

/** The values of each directive, in order; a line that ends with a backslash is not used in these units. */
function readUnit(unit: string): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const line of readFileSync(pathOf(unit), 'utf8').split('\n')) {
    const [, name = '', value = ''] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? []
    if (name !== '') found.set(name, [...(found.get(name) ?? []), value])
  }
  return found
}

const words = (unit: Map<string, string[]>, name: string): string[] =>
  (unit.get(name) ?? []).flatMap((value) => value.split(' ')).filter((word) => word !== '')

const SERVER = 'server/holdfast-server.service'
const BROKER = 'server/holdfast-broker.service'
const AGENT = 'agent/holdfast-agent.service'
const FENCER = 'agent/holdfast-fencer.service'
const CADDY = 'agent/holdfast-caddy.service'
/** A drop-in of the agent's unit. */
const POOL = 'agent/holdfast-agent-pool.conf'

const ALL_UNITS = {
  Restart: 'always',
  UMask: '0077',
  NoNewPrivileges: 'true',
  LockPersonality: 'true',
  SystemCallArchitectures: 'native',
  SystemCallErrorNumber: 'EPERM',
  ProtectSystem: 'strict',
  ProtectHome: 'true',
  ProtectClock: 'true',
  ProtectHostname: 'true',
  ProtectKernelLogs: 'true',
  ProtectKernelModules: 'true',
  ProtectKernelTunables: 'true',
  PrivateTmp: 'true',
  PrivateDevices: 'true',
  RestrictRealtime: 'true',
  RestrictSUIDSGID: 'true',
}
/** The agent and the fencer cannot have these; their units say why. */
const SANDBOX = { ProtectProc: 'invisible', ProtectControlGroups: 'true', Type: 'notify' }

describe.each([SERVER, BROKER, AGENT, FENCER, CADDY])('%s', (unit) => {
  test('has the directives that every unit needs', () => {
    const directives = readUnit(unit)
    for (const [name, value] of Object.entries(ALL_UNITS)) expect(directives.get(name), name).toEqual([value])
    expect(directives.has('RestrictNamespaces')).toBe(true)
    expect(words(directives, 'SystemCallFilter')[0]).toBe('@system-service')
    expect(directives.has('CapabilityBoundingSet')).toBe(true)
    expect(directives.has('RestrictAddressFamilies')).toBe(true)
    expect(words(directives, 'WantedBy')).toEqual(['multi-user.target'])
  })
})

describe.each([SERVER, BROKER, AGENT, FENCER])('%s, which runs on Node', (unit) => {
  test('reports readiness by the child systemd-notify or by a file', () => {
    const directives = readUnit(unit)
    const notified = new Map([
      [AGENT, undefined],
      [FENCER, ['main']],
    ])
    expect(directives.get('NotifyAccess')).toEqual(notified.has(unit) ? notified.get(unit) : ['all'])
    if (unit === AGENT) expect(directives.get('ExecStartPost')?.[0]).toContain('"$RUNTIME_DIRECTORY/ready"')
    expect(words(directives, 'RestrictAddressFamilies')).toContain('AF_UNIX')
  })

  test('forbids memory that is written and run only if Node has no compiler', () => {
    const directives = readUnit(unit)
    const isInterpreted = words(directives, 'Environment').includes('NODE_OPTIONS=--jitless')
    expect(directives.has('MemoryDenyWriteExecute')).toBe(isInterpreted)
  })
})

describe.each([SERVER, BROKER, CADDY])('%s, which mounts nothing', (unit) => {
  test('has the whole sandbox', () => {
    const directives = readUnit(unit)
    for (const [name, value] of Object.entries(SANDBOX)) expect(directives.get(name), name).toEqual([value])
    expect(words(directives, 'SystemCallFilter')).toEqual(['@system-service', '~@privileged', '@resources'])
  })
})

describe.each([
  [SERVER, 'holdfast-server', 'server.yaml', ['cluster-key', 'api-secret-id']],
  [BROKER, 'holdfast-broker', 'broker.yaml', ['cluster-key', 'broker-secret-id']],
] as const)('%s', (unit, user, config, credentials) => {
  const directives = readUnit(unit)

  test('runs as its own user without capabilities, with its own configuration', () => {
    expect(directives.get('User')).toEqual([user])
    expect(directives.get('CapabilityBoundingSet')).toEqual([''])
    expect(directives.get('PrivateUsers')).toEqual(['true'])
    expect(directives.get('ExecStart')?.[0]).toContain(`serve --config /etc/holdfast/${config}`)
  })

  test('may list the addresses of the machine, which the HTTP server does when it listens on all of them', () => {
    expect(words(directives, 'RestrictAddressFamilies')).toContain('AF_NETLINK')
  })

  test('reloads by SIGHUP without /bin/kill', () => {
    expect(directives.get('ExecReload')).toEqual([`/bin/sh -c 'kill -HUP $MAINPID'`])
  })

  test('reads its own secrets alone as credentials, which may be missing', () => {
    const named = (name: string) => (directives.get(name) ?? []).map((value) => value.split(':')[0])
    expect(named('LoadCredential')).toEqual(credentials)
    expect(directives.get('SetCredential')).toEqual(credentials.map((name) => `${name}:\\n`))
  })

  test('is not started again while its store is written in a newer form, or after etcd was restored', () => {
    expect(directives.get('RestartPreventExitStatus')).toEqual(['78 79'])
    expect(directives.get('StateDirectory')).toEqual([user])
  })
})

test('only the broker runs with the role broker', () => {
  expect(readUnit(BROKER).get('ExecStart')?.[0]).toMatch(/ --roles broker$/)
  expect(readUnit(SERVER).get('ExecStart')?.[0]).not.toContain('--roles')
})

describe.each([POOL, FENCER])('%s, which mounts or unmounts for the whole machine', (unit) => {
  test('names the tree of mounts of the machine, and may enter no other kind of namespace', () => {
    const directives = readUnit(unit)
    expect(words(directives, 'Environment')).toContain('HOLDFAST_MOUNT_NAMESPACE=/proc/1/ns/mnt')
    expect(directives.get('RestrictNamespaces')).toEqual(['mnt'])
    for (const name of ['CAP_SYS_ADMIN', 'CAP_SYS_CHROOT', 'CAP_SYS_PTRACE'])
      expect(words(directives, 'CapabilityBoundingSet'), name).toContain(name)
  })

  test('has no capability to load modules, set clocks, reboot or reach into other namespaces', () => {
    const held = words(readUnit(unit), 'CapabilityBoundingSet')
    for (const name of ['MODULE', 'TIME', 'BOOT', 'RAWIO', 'PACCT'])
      expect(held, name).not.toContain(`CAP_SYS_${name}`)
    for (const name of ['CAP_NET_ADMIN', 'CAP_NET_RAW', 'CAP_BPF', 'CAP_SETUID'])
      expect(held, name).not.toContain(name)
  })
})

test('the agent without a pool only ends processes of other users', () => {
  const directives = readUnit(AGENT)
  expect(words(directives, 'CapabilityBoundingSet')).toEqual(['CAP_KILL'])
  expect(directives.get('RestrictNamespaces')).toEqual(['true'])
  expect(directives.get('StandardInput')).toEqual(['file:/dev/kmsg'])
})

test('an upgrade of the agent leaves containers running', () => {
  expect(readUnit(AGENT).get('KillMode')).toEqual(['process'])
})

const ANALYZE = '/usr/bin/systemd-analyze'

/** The unit of the agent with the drop-in, as one file. */
function writeWithPool(): string {
  const folder = makeTempFolder('pool-unit')
  onTestFinished(() => folder.remove())
  const path = join(folder.path, 'holdfast-agent.service')
  writeFileSync(path, `${readFileSync(pathOf(AGENT), 'utf8')}${readFileSync(pathOf(POOL), 'utf8')}`)
  return path
}

/** Highest accepted exposure. A pool needs rights on the machine, which its drop-in explains. */
test.runIf(existsSync(ANALYZE)).each([
  [SERVER, 2],
  [BROKER, 2],
  [CADDY, 2],
  [AGENT, 2],
  [FENCER, 2],
  [POOL, 4],
])('%s has an exposure of at most %d', (unit, most) => {
  const path = unit === POOL ? writeWithPool() : pathOf(unit)
  const { stdout } = spawnSync(ANALYZE, ['security', '--offline=true', '--no-pager', path], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  const exposure = Number(/Overall exposure level for \S+: ([0-9.]+)/.exec(stdout)?.[1])
  expect(exposure).toBeLessThanOrEqual(most)
})
