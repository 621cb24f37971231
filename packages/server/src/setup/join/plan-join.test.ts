// Which steps remain on a machine that joins, on one that gets an address, and why either is refused.

import { describe, expect, test } from 'vitest'
import { describeStep } from '../describe-step.ts'
import { desiredSteps } from '../desired-steps.ts'
import type { CertificateFact, FileFact, SetupFacts } from '../facts.ts'
import { DEFAULT_PORTS, layoutBelow, type SetupOptions } from '../layout.ts'
import { planSetup } from '../plan-setup.ts'
import type { Step } from '../step.ts'
import { planNetwork } from './network.ts'
import { withSettings } from './settings.ts'

const NOW = Date.UTC(2026, 10, 19)
const YEAR_MS = 365 * 86_400_000
const layout = layoutBelow('/')
const first: SetupOptions = {
  root: '/',
  publicUrl: 'https://holdfast.example.com:8443',
  listenPort: 8443,
  engines: '/engines',
  ports: DEFAULT_PORTS,
  name: 'one',
  address: '10.0.0.1',
}
const joining: SetupOptions = {
  ...first,
  name: 'b',
  address: '10.0.0.2',
  joins: { etcd: ['https://10.0.0.1:2379'], secretsStores: ['https://10.0.0.1:8200'] },
}
const member = (name: string, address: string, isLearner = false) => ({
  id: 1n,
  name,
  peerUrls: [`https://${address}:2380`],
  clientUrls: [`https://${address}:2379`],
  isLearner,
})
const [one, b, c] = [member('one', '10.0.0.1'), member('b', '10.0.0.2'), member('c', '10.0.0.3')]

const EMPTY: SetupFacts = {
  nowMs: NOW,
  mayWrite: true,
  missingPrograms: [],
  missingUsers: [],
  files: new Map(),
  certificates: new Map(),
  serving: new Set(),
  running: new Set(),
  secretsStore: 'empty',
  platform: 'unknown',
  pending: 'none',
  hasUnsealKey: true,
  configuredUrl: undefined,
  hasAddress: true,
  configuredAddress: undefined,
  hasEtcdData: false,
  members: [one],
  voter: 'unknown',
  invited: { isForeign: false, notAfterMs: new Map() },
}

/** The facts of a machine on which all steps of the options were performed. */
function finished(options: SetupOptions, members = [one, b]): SetupFacts {
  const network = planNetwork({ members, hasEtcdData: false, etcdEnvironment: undefined }, options)
  const files = new Map<string, FileFact>()
  const certificates = new Map<string, CertificateFact>()
  for (const step of desiredSteps(options, network)) perform(step, files, certificates)
  const services = ['etcd', 'secretsStore', 'broker', 'server'] as const
  return {
    ...EMPTY,
    files,
    certificates,
    members,
    serving: new Set(services),
    running: new Set(services),
    secretsStore: 'unsealed',
    platform: 'exists',
    configuredUrl: options.publicUrl,
    configuredAddress: options.address,
    hasEtcdData: true,
    voter: 'yes',
  }
}

function perform(step: Step, files: Map<string, FileFact>, certificates: Map<string, CertificateFact>) {
  if ('mode' in step) {
    const { path, mode, owner } = step
    const text =
      step.kind === 'write' ? step.content : step.kind === 'settings' ? withSettings('', step.settings) : ''
    files.set(path, { mode, owner, text })
  }
  if (step.kind === 'key' || step.kind === 'identity') {
    const owned = step.kind === 'key' ? step.files : [step.secretId]
    for (const { path, mode, owner } of owned) files.set(path, { mode, owner })
  }
  if (step.kind === 'identity') {
    const { path, mode, owner, content } = step.config
    files.set(path, { mode, owner, text: content })
  }
  if (step.kind !== 'authority' && step.kind !== 'certificate') return
  files.set(step.key, { mode: 0o600, owner: 'owner' in step ? step.owner : 'root' })
  const names = 'names' in step ? step.names : []
  certificates.set(step.cert, { notAfterMs: NOW + YEAR_MS, names, isOurs: true })
}

function linesOf(facts: SetupFacts, options: SetupOptions): readonly string[] {
  const plan = planSetup(facts, options)
  return plan.kind === 'steps' ? plan.steps.map(describeStep) : plan.reasons
}

test('an empty machine that joins needs all steps, in order', () => {
  expect(
    linesOf(EMPTY, joining).filter((line) => !/^(create folder|write certificate)/.test(line)),
  ).toMatchInlineSnapshot(`
      [
        "write /var/lib/holdfast/setup/invitation.json from the invitation (0600 root)",
        "write /etc/holdfast/pki/ca.pem from the invitation (0644 root)",
        "write /etc/holdfast/server-cluster-key from the invitation (0600 holdfast-server)",
        "write /etc/holdfast/broker-cluster-key from the invitation (0600 holdfast-broker)",
        "write /var/lib/holdfast-server/api-secret-id from the invitation (0600 holdfast-server)",
        "write /var/lib/holdfast-broker/broker-secret-id from the invitation (0600 holdfast-broker)",
        "add https://10.0.0.2:2380 to the members of etcd, without a vote",
        "write /etc/holdfast/etcd.env (0644 root)",
        "write /etc/holdfast/vault.hcl (0644 root)",
        "start holdfast-etcd.service and wait until it answers",
        "wait until the member of etcd has all data, then give it a vote",
        "start holdfast-vault.service and wait until it answers",
        "join the secrets stores of the other machines, and unseal with the key in --unseal-key-file",
        "write /etc/holdfast/server.yaml from the invitation, and set cluster.url: https://10.0.0.2:8443; secretsStore.address: https://10.0.0.2:8200; etcd.endpoints: https://10.0.0.2:2379, https://10.0.0.1:2379 in /etc/holdfast/server.yaml",
        "write /etc/holdfast/broker.yaml from the invitation, and set cluster.url: https://10.0.0.2:8444; secretsStore.address: https://10.0.0.2:8200; etcd.endpoints: https://10.0.0.2:2379, https://10.0.0.1:2379; listen.host: 10.0.0.2 in /etc/holdfast/broker.yaml",
        "start holdfast-broker.service and wait until it answers",
        "start holdfast-server.service and wait until it answers",
        "wait until the secrets store on this machine has a vote",
      ]
    `)
})

test.each([
  ['joined', joining, [one, b]],
  ['joined, and another joined after it', { ...joining }, [one, b]],
  ['got an address', first, [one, b]],
] as const)('a machine that %s needs no step', (_, options, members) => {
  expect(planSetup(finished(options, [...members]), options)).toEqual({ kind: 'steps', steps: [] })
})

const without = (path: string): Partial<SetupFacts> => ({
  files: new Map([...finished(joining).files].filter(([key]) => key !== path)),
})
const RESTARTS = [
  'restart holdfast-broker.service and wait until it answers',
  'restart holdfast-server.service and wait until it answers',
]

describe('a machine that joined performs only the steps that remain', () => {
  test.each<[string, Partial<SetupFacts>, readonly unknown[]]>([
    [
      'after another machine joined',
      { members: [one, b, c] },
      [
        'set etcd.endpoints: https://10.0.0.2:2379, https://10.0.0.1:2379, https://10.0.0.3:2379 in /etc/holdfast/server.yaml',
        'set etcd.endpoints: https://10.0.0.2:2379, https://10.0.0.1:2379, https://10.0.0.3:2379 in /etc/holdfast/broker.yaml',
        ...RESTARTS,
      ],
    ],
    [
      'while it is a learner',
      { members: [one, { ...b, isLearner: true }] },
      ['wait until the member of etcd has all data, then give it a vote'],
    ],
    [
      'while the secrets store has no vote',
      { voter: 'no' },
      ['wait until the secrets store on this machine has a vote'],
    ],
    ['with a policy that hides the votes', { voter: 'hidden' }, []],
    ['while no other machine answers', { members: undefined }, []],
    [
      'when its secrets store is sealed',
      { secretsStore: 'sealed' },
      ['unseal the secrets store with the key in --unseal-key-file'],
    ],
    [
      'with a newer invitation',
      {
        invited: {
          isForeign: false,
          notAfterMs: new Map([[layout.certificate('server').cert, NOW + 2 * YEAR_MS]]),
        },
      },
      [
        'write certificate /etc/holdfast/pki/server.pem from the invitation (key: 0600 holdfast-server)',
        'restart holdfast-server.service and wait until it answers',
      ],
    ],
    [
      'with an older invitation',
      { invited: { isForeign: false, notAfterMs: new Map([[layout.certificate('server').cert, NOW]]) } },
      [],
    ],
    [
      'when a key was lost',
      without(layout.serverKey),
      [
        'write /etc/holdfast/server-cluster-key from the invitation (0600 holdfast-server)',
        'restart holdfast-server.service and wait until it answers',
      ],
    ],
  ])('%s', (_, change, expected) => {
    expect(linesOf({ ...finished(joining), ...change }, joining)).toEqual(expected)
  })
})

test('a platform on loopback that gets an address moves etcd, the secrets store and the configurations', () => {
  const local = { ...first, address: '127.0.0.1' }
  const before = finished(local, [member('one', '127.0.0.1')])
  expect(linesOf({ ...before, serving: new Set() }, first)).toMatchInlineSnapshot(`
    [
      "issue certificate /etc/holdfast/pki/etcd.pem for DNS:localhost, IP:127.0.0.1, IP:10.0.0.1, valid for 365 days (key: 0600 holdfast-etcd)",
      "issue certificate /etc/holdfast/pki/etcd-client-server.pem for DNS:localhost, IP:127.0.0.1, IP:10.0.0.1, valid for 365 days (key: 0600 holdfast-server)",
      "issue certificate /etc/holdfast/pki/etcd-client-broker.pem for DNS:localhost, IP:127.0.0.1, IP:10.0.0.1, valid for 365 days (key: 0600 holdfast-broker)",
      "issue certificate /etc/holdfast/pki/vault.pem for DNS:localhost, IP:127.0.0.1, IP:10.0.0.1, valid for 365 days (key: 0600 holdfast-vault)",
      "issue certificate /etc/holdfast/pki/broker.pem for DNS:localhost, IP:127.0.0.1, IP:10.0.0.1, valid for 365 days (key: 0600 holdfast-broker)",
      "issue certificate /etc/holdfast/pki/server.pem for DNS:holdfast.example.com, DNS:localhost, IP:127.0.0.1, IP:10.0.0.1, valid for 365 days (key: 0600 holdfast-server)",
      "write /etc/holdfast/etcd.env (0644 root)",
      "write /var/lib/holdfast/vault/raft/peers.json, with which the secrets store starts at its new address (0600 holdfast-vault)",
      "write /etc/holdfast/vault.hcl (0644 root)",
      "restart holdfast-etcd.service and wait until it answers",
      "announce https://10.0.0.1:2380 as the address of one to etcd",
      "restart holdfast-vault.service and wait until it answers",
      "unseal the secrets store with the key in --unseal-key-file",
      "set cluster.url: https://10.0.0.1:8443; secretsStore.address: https://10.0.0.1:8200; etcd.endpoints: https://10.0.0.1:2379 in /etc/holdfast/server.yaml",
      "set cluster.url: https://10.0.0.1:8444; secretsStore.address: https://10.0.0.1:8200; etcd.endpoints: https://10.0.0.1:2379; listen.host: 10.0.0.1 in /etc/holdfast/broker.yaml",
      "restart holdfast-broker.service and wait until it answers",
      "restart holdfast-server.service and wait until it answers",
    ]
  `)
})

describe('is refused', () => {
  test.each<[string, SetupOptions, Partial<SetupFacts>, readonly unknown[]]>([
    [
      'a join without the unseal key',
      joining,
      { hasUnsealKey: false },
      [expect.stringContaining('--unseal-key-file')],
    ],
    [
      'a join without another machine',
      joining,
      { members: undefined },
      [expect.stringContaining('Check the network')],
    ],
    [
      'a join of a machine of another platform',
      joining,
      { invited: { isForeign: true, notAfterMs: new Map() } },
      [expect.stringContaining('belongs to another platform')],
    ],
    [
      'a join of a member that was removed',
      joining,
      { ...finished(joining), members: [one] },
      [expect.stringContaining('no member has the address https://10.0.0.2:2380')],
    ],
    [
      'a join under the name of another machine',
      joining,
      { members: [one, member('b', '10.0.0.9')] },
      [expect.stringContaining('Another machine is the member b')],
    ],
    [
      'an address of another machine',
      first,
      { hasAddress: false },
      [expect.stringContaining('no address 10.0.0.1')],
    ],
    [
      'another address than the one that the others know',
      first,
      { ...finished({ ...first, address: '10.0.0.7' }, [member('one', '10.0.0.7'), b]), serving: new Set() },
      [expect.stringContaining('know this one by the address 10.0.0.7')],
    ],
  ])('%s', (_, options, change, reasons) => {
    expect(planSetup({ ...EMPTY, ...change }, options)).toEqual({ kind: 'refused', reasons })
  })
})

test('no step of a join contains a key', () => {
  const network = planNetwork({ members: [one], hasEtcdData: false, etcdEnvironment: undefined }, joining)
  for (const step of desiredSteps(joining, network))
    if (step.kind === 'deliver' && step.item !== 'ca') expect(step.mode).toBe(0o600)
})
