import { describe, expect, test } from 'vitest'
import { describeStep } from './describe-step.ts'
import { desiredSteps } from './desired-steps.ts'
import type { CertificateFact, FileFact, SetupFacts } from './facts.ts'
import { DEFAULT_PORTS, layoutBelow, type SetupOptions } from './layout.ts'
import { planSetup } from './plan-setup.ts'
import type { Step } from './step.ts'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 10, 18)
const options: SetupOptions = {
  root: '/',
  publicUrl: 'https://holdfast.example.com:8443',
  listenPort: 8443,
  engines: '/usr/lib/holdfast/engines',
  ports: DEFAULT_PORTS,
  name: 'one',
  address: '127.0.0.1',
}
const network = { initialCluster: 'one=https://127.0.0.1:2380', endpoints: undefined }
const layout = layoutBelow('/')

const EMPTY: SetupFacts = {
  nowMs: NOW,
  mayWrite: true,
  missingPrograms: [],
  missingUsers: [],
  files: new Map(),
  certificates: new Map(),
  serving: new Set(),
  secretsStore: 'empty',
  platform: 'unknown',
  pending: 'none',
  hasUnsealKey: false,
  configuredUrl: undefined,
  running: new Set(),
  hasAddress: true,
  configuredAddress: undefined,
  hasEtcdData: false,
  members: undefined,
  voter: 'unknown',
}

const member = (name: string, address: string) => ({
  id: 1n,
  name,
  peerUrls: [`https://${address}:2380`],
  clientUrls: [`https://${address}:2379`],
  isLearner: false,
})

/** The facts of a machine on which all steps were performed at `NOW`. */
function finished(): SetupFacts {
  const files = new Map<string, FileFact>()
  const certificates = new Map<string, CertificateFact>()
  for (const step of desiredSteps(options, network)) perform(step, files, certificates)
  return {
    ...EMPTY,
    files,
    certificates,
    serving: new Set(['etcd', 'secretsStore', 'broker', 'server']),
    secretsStore: 'unsealed',
    platform: 'exists',
    configuredUrl: options.publicUrl,
    running: new Set(['etcd', 'secretsStore', 'broker', 'server']),
    configuredAddress: options.address,
    hasEtcdData: true,
    members: [member('one', '127.0.0.1')],
  }
}

function perform(step: Step, files: Map<string, FileFact>, certificates: Map<string, CertificateFact>) {
  if (step.kind === 'folder') files.set(step.path, { mode: step.mode, owner: step.owner })
  if (step.kind === 'write') files.set(step.path, { mode: step.mode, owner: step.owner, text: step.content })
  if (step.kind === 'key') for (const { path, mode, owner } of step.files) files.set(path, { mode, owner })
  if (step.kind === 'identity')
    for (const { path, mode, owner } of [step.secretId, step.config]) files.set(path, { mode, owner })
  if (step.kind !== 'authority' && step.kind !== 'certificate') return
  files.set(step.key, { mode: 0o600, owner: 'owner' in step ? step.owner : 'root' })
  const names = 'names' in step ? step.names : []
  certificates.set(step.cert, { notAfterMs: NOW + step.days * DAY_MS, names, isOurs: true })
}

function linesOf(facts: SetupFacts): readonly string[] {
  const plan = planSetup(facts, options)
  return plan.kind === 'steps' ? plan.steps.map(describeStep) : plan.reasons
}

test('a machine that is set up needs no step', () => {
  expect(planSetup(finished(), options)).toEqual({ kind: 'steps', steps: [] })
})

test('a machine whose secret ids are where earlier versions wrote them needs no step', () => {
  const facts = finished()
  const files = new Map(facts.files)
  for (const [service, name] of [
    ['server', 'api-secret-id'],
    ['broker', 'broker-secret-id'],
  ]) {
    files.delete(`/var/lib/holdfast-${service}/${name}`)
    files.set(`/etc/holdfast/${name}`, { mode: 0o600, owner: `holdfast-${service}` })
  }
  expect(planSetup({ ...facts, files }, options)).toEqual({ kind: 'steps', steps: [] })
})

test('an empty machine needs all steps, in order', () => {
  expect(planSetup(EMPTY, options)).toEqual({ kind: 'steps', steps: desiredSteps(options, network) })
  expect(linesOf(EMPTY)).toMatchInlineSnapshot(`
    [
      "create folder /etc/holdfast (0755 root)",
      "create folder /etc/holdfast/pki (0755 root)",
      "create folder /var/lib/holdfast (0755 root)",
      "create folder /var/lib/holdfast/etcd (0700 holdfast-etcd)",
      "create folder /var/lib/holdfast/vault (0700 holdfast-vault)",
      "create folder /var/lib/holdfast/setup (0700 root)",
      "create folder /var/lib/holdfast-server (0700 holdfast-server)",
      "create folder /var/lib/holdfast-broker (0700 holdfast-broker)",
      "create the platform's authority /etc/holdfast/pki/ca.pem, valid for 3650 days",
      "issue certificate /etc/holdfast/pki/etcd.pem for DNS:localhost, IP:127.0.0.1, valid for 365 days (key: 0600 holdfast-etcd)",
      "issue certificate /etc/holdfast/pki/etcd-client-server.pem for DNS:localhost, IP:127.0.0.1, valid for 365 days (key: 0600 holdfast-server)",
      "issue certificate /etc/holdfast/pki/etcd-client-broker.pem for DNS:localhost, IP:127.0.0.1, valid for 365 days (key: 0600 holdfast-broker)",
      "issue certificate /etc/holdfast/pki/vault.pem for DNS:localhost, IP:127.0.0.1, valid for 365 days (key: 0600 holdfast-vault)",
      "issue certificate /etc/holdfast/pki/broker.pem for DNS:localhost, IP:127.0.0.1, valid for 365 days (key: 0600 holdfast-broker)",
      "issue certificate /etc/holdfast/pki/server.pem for DNS:holdfast.example.com, DNS:localhost, IP:127.0.0.1, valid for 365 days (key: 0600 holdfast-server)",
      "write /etc/holdfast/etcd.env (0644 root)",
      "write /etc/holdfast/vault.hcl (0644 root)",
      "create a random key in /etc/holdfast/server-cluster-key (0600 holdfast-server) and /etc/holdfast/broker-cluster-key (0600 holdfast-broker)",
      "start holdfast-etcd.service and wait until it answers",
      "start holdfast-vault.service and wait until it answers",
      "initialize the secrets store and unseal it",
      "issue the identity api of the secrets store: /var/lib/holdfast-server/api-secret-id (0600 holdfast-server), /etc/holdfast/server.yaml (0644 root)",
      "issue the identity broker of the secrets store: /var/lib/holdfast-broker/broker-secret-id (0600 holdfast-broker), /etc/holdfast/broker.yaml (0644 root)",
      "create the platform and its first token",
      "start holdfast-broker.service and wait until it answers",
      "start holdfast-server.service and wait until it answers",
      "revoke the operator's token of the secrets store, then print the first token and the unseal key once",
    ]
  `)
})

test('a tenant is created together with the platform, and a registry is allowed in both configurations', () => {
  const more = { ...options, tenant: 'acme', registry: { host: 'r.example:5000', ca: '/ca.pem' } }
  const steps = desiredSteps(more, network)
  expect(steps.map(describeStep)).toContain('create the platform, the tenant acme and its first token')
  const entry = '  - host: "r.example:5000"\n    allowAddress: true\n    ca: "/ca.pem"\n'
  const configs = steps.flatMap((step) =>
    step.kind === 'identity' ? [step.config.content.endsWith(entry)] : [],
  )
  expect(configs).toEqual([true, true])
  expect(planSetup(finished(), more)).toEqual({ kind: 'steps', steps: [] })
})

const without = <T>(map: ReadonlyMap<string, T>, path: string): Map<string, T> =>
  new Map([...map].filter(([key]) => key !== path))
const changed = (path: string, change: Partial<FileFact>): Partial<SetupFacts> => {
  const { files } = finished()
  const before = files.get(path)
  if (before === undefined) throw new Error(`no step writes ${path}`)
  return { files: new Map([...files, [path, { ...before, ...change }]]) }
}
const certificate = (name: 'server' | 'vault', change: Partial<CertificateFact>): Partial<SetupFacts> => {
  const { certificates } = finished()
  const { cert } = layout.certificate(name)
  const before = certificates.get(cert)
  if (before === undefined) throw new Error(`no step issues ${cert}`)
  return { certificates: new Map([...certificates, [cert, { ...before, ...change }]]) }
}

describe('setup plans only the steps that remain', () => {
  test.each<[string, Partial<SetupFacts>, readonly string[]]>([
    [
      'a file that others can read',
      changed('/etc/holdfast/etcd.env', { mode: 0o666 }),
      ['write /etc/holdfast/etcd.env (0644 root)', 'restart holdfast-etcd.service and wait until it answers'],
    ],
    [
      'a file of setup that was edited',
      changed('/etc/holdfast/etcd.env', { text: 'ETCD_NAME=two\n' }),
      ['write /etc/holdfast/etcd.env (0644 root)', 'restart holdfast-etcd.service and wait until it answers'],
    ],
    ['a configuration that the operator edited', changed('/etc/holdfast/server.yaml', { text: 'x' }), []],
    [
      'a folder of another user',
      changed('/var/lib/holdfast/etcd', { owner: 'root' }),
      ['create folder /var/lib/holdfast/etcd (0700 holdfast-etcd)'],
    ],
    ['owners that are not tracked', changed('/var/lib/holdfast/etcd', { owner: undefined }), []],
    [
      'a certificate that is valid for 29 days',
      certificate('server', { notAfterMs: NOW + 29 * DAY_MS }),
      [
        expect.stringContaining('issue certificate /etc/holdfast/pki/server.pem'),
        'restart holdfast-server.service and wait until it answers',
      ],
    ],
    ['a certificate that is valid for 31 days', certificate('server', { notAfterMs: NOW + 31 * DAY_MS }), []],
    [
      'a certificate of another authority',
      certificate('server', { isOurs: false }),
      [expect.stringContaining('server.pem'), expect.stringContaining('restart holdfast-server')],
    ],
    [
      'a certificate without the public name',
      certificate('server', { names: ['DNS:localhost', 'IP:127.0.0.1'] }),
      [expect.stringContaining('server.pem'), expect.stringContaining('restart holdfast-server')],
    ],
    [
      'a unit that does not answer',
      {
        serving: new Set(['etcd', 'secretsStore', 'server']),
        running: new Set(['etcd', 'secretsStore', 'server']),
      },
      ['start holdfast-broker.service and wait until it answers'],
    ],
    [
      'a unit that runs and does not answer',
      { serving: new Set(['etcd', 'secretsStore', 'server']) },
      ['restart holdfast-broker.service and wait until it answers'],
    ],
    [
      'a setup that was interrupted before it showed its credentials',
      { pending: 'all' },
      [expect.stringContaining('print the first token')],
    ],
    [
      'a setup that was interrupted before it kept the first token',
      { pending: 'store keys' },
      [expect.stringContaining('replace the first token'), expect.stringContaining('print the first token')],
    ],
    [
      'a setup that was interrupted before it unsealed the secrets store',
      { pending: 'store keys', secretsStore: 'sealed', platform: 'absent' },
      [
        'unseal the secrets store with the key of the interrupted setup',
        'create the platform and its first token',
        expect.stringContaining('print the first token'),
      ],
    ],
    [
      'a sealed store with its key',
      { secretsStore: 'sealed', hasUnsealKey: true },
      ['unseal the secrets store with the key in --unseal-key-file'],
    ],
  ])('%s', (_, change, expected) => {
    expect(linesOf({ ...finished(), ...change })).toEqual(expected)
  })
})

describe('setup is refused', () => {
  test.each<[string, Partial<SetupFacts>, readonly unknown[]]>([
    ['without root', { mayWrite: false }, ['Setup writes below /etc and starts units. Run it as root.']],
    [
      'without the engines',
      { missingPrograms: ['/usr/lib/holdfast/engines/etcd'] },
      [expect.stringMatching(/^\/usr\/lib\/holdfast\/engines\/etcd is missing\. Install/)],
    ],
    ['without a user', { missingUsers: ['holdfast-etcd'] }, [expect.stringMatching(/no user holdfast-etcd/)]],
    [
      'with another public address than the configured one',
      { configuredUrl: 'https://other.example:8443' },
      [expect.stringContaining('has the publicUrl https://other.example:8443')],
    ],
    [
      'with a platform whose secrets store was lost',
      { secretsStore: 'empty' },
      [expect.stringContaining('the secrets store in /var/lib/holdfast/vault is empty. Restore')],
    ],
    ['with a sealed store and no key', { secretsStore: 'sealed' }, [expect.stringContaining('--unseal-key')]],
    [
      'if a renewed certificate restarts, and so seals, the store and there is no key',
      certificate('vault', { notAfterMs: NOW }),
      [expect.stringContaining('--unseal-key-file')],
    ],
    [
      'if the secret id of an identity is lost',
      { files: without(finished().files, '/var/lib/holdfast-server/api-secret-id') },
      [expect.stringContaining('The identity api of the secrets store is incomplete')],
    ],
  ])('%s', (_, change, expected) => {
    const plan = planSetup({ ...finished(), ...change }, options)
    expect(plan).toEqual({ kind: 'refused', reasons: expected })
  })

  test('if the key of the authority is away and a certificate must be issued', () => {
    const facts = finished()
    const files = without(facts.files, '/etc/holdfast/pki/ca-key.pem')
    expect(planSetup({ ...facts, files }, options)).toEqual({ kind: 'steps', steps: [] })
    const due = certificate('server', { notAfterMs: NOW })
    expect(planSetup({ ...facts, ...due, files }, options)).toEqual({
      kind: 'refused',
      reasons: [expect.stringContaining('/etc/holdfast/pki/ca-key.pem')],
    })
  })
})

test('no step contains a secret, and keys and secret ids are readable by their owner alone', () => {
  for (const step of desiredSteps(options, network)) {
    if (step.kind === 'key') for (const { mode } of step.files) expect(mode).toBe(0o600)
    if (step.kind === 'identity') expect(step.secretId.mode).toBe(0o600)
  }
})
