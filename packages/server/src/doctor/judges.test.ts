// Tables of all judges of the doctor: which facts are healthy, which are not, and that an unobserved fact is never healthy.

import { describe, expect, test } from 'vitest'
import { load, MINIMAL } from '../config/sample-config.fixture.ts'
import type { EngineStatus } from '../ports/key-value.ts'
import { exitCodeOf, type Finding, failure, ok, seen, unobserved, type Verdict, warning } from './finding.ts'
import { judgeCertificates } from './judge-certificates.ts'
import { judgeConfiguration } from './judge-configuration.ts'
import { judgeEtcd } from './judge-etcd.ts'
import { judgeClock, judgeName, judgeSpace, judgeSync } from './judge-machine.ts'
import { judgeEtcdMembers, judgeStoreMembers } from './judge-members.ts'
import { judgeAuthorities } from './judge-authorities.ts'
import { judgeAgents, judgeFormat } from './judge-records.ts'
import { judgeRestore } from './judge-restore.ts'
import { judgeSecretsStore } from './judge-secrets-store.ts'
import type { StatedAgent } from './gather-platform.ts'
import { percentile } from './percentile.ts'
import { printFindings, printJson } from './print-findings.ts'

const DAY_MS = 86_400_000
const GIB = 1024 ** 3
const NOW = Date.UTC(2026, 10, 18)
const lost = unobserved('no answer within 5 s')

const name = (addresses: Parameters<typeof judgeName>[0]['addresses']) =>
  judgeName({ host: 'hf.example', addresses })
const space = (freeBytes: number) =>
  judgeSpace({ folder: '/data', space: seen({ freeBytes, totalBytes: 100 * GIB }) })
const sync = (ms: number) => judgeSync({ folder: '/data', p99Ms: seen(ms) })
const expiry = (days: number): Finding[] => [
  ...judgeCertificates([{ path: '/ca.pem', notAfterMs: seen(NOW + days * DAY_MS) }], NOW),
]
const format = (writes: number) => judgeFormat({ reads: 2, stored: seen({ writes, by: '0.3.0' }) })
const restore = (tenants: number, ...holds: string[]) =>
  judgeRestore(
    seen({
      unconfirmedSince: tenants === 0 ? undefined : '2026-11-18T04:00:00Z',
      unconfirmedTenants: tenants,
      holds: holds.map((node) => ({ node, reason: 'the store has another epoch' })),
    }),
  )
const agents = (...versions: (string | undefined)[]) =>
  judgeAgents({ server: '0.3.0', agents: seen(versions) })

const PIN = `sha256:${'a'.repeat(64)}`
const stated = (name: string, ...pins: readonly string[]): StatedAgent => ({
  name,
  version: '0.3.0',
  generation: 1,
  session: { replica: null, epoch: 3, bootId: '' },
  authorities: { generation: 1, epoch: 3, pins: [...pins] },
})
const authorities = (served: string | undefined, next: readonly string[], ...of: readonly StatedAgent[]) =>
  judgeAuthorities({ roots: seen({ served, next }), agents: seen(of) })[0]
const outdated = { ...stated('acme-3', PIN), session: { replica: null, epoch: 4, bootId: '' } }

test('says nothing of authorities while none is announced and every node trusts the served one', () => {
  expect(authorities(PIN, [], stated('acme-1', PIN), stated('acme-2'))).toBe(undefined)
})

test.each<[string, Finding | undefined, Verdict, string]>([
  [
    'a served authority that one node refuses',
    authorities('o', [PIN], stated('n', PIN), stated('m', 'o', PIN)),
    'failure',
    'o, which is not trusted by 1 of 2 nodes: n',
  ],
  [
    'a confirmed authority',
    authorities(undefined, [PIN], stated('acme-1', PIN)),
    'ok',
    'every node has confirmed',
  ],
  ['an authority without nodes', authorities(undefined, [PIN]), 'ok', 'every node has confirmed'],
  [
    'an unconfirmed authority',
    authorities(undefined, [PIN], stated('acme-1', PIN), stated('acme-2')),
    'warning',
    '1 of 2 nodes: acme-2',
  ],
  [
    'a confirmation of an earlier session',
    authorities(undefined, [PIN], outdated),
    'warning',
    '1 of 1 node: acme-3',
  ],
  [
    'unknown nodes',
    judgeAuthorities({ roots: seen({ served: PIN, next: [PIN, 'o'] }), agents: lost })[0],
    'unobserved',
    'could not be',
  ],
  ['unreadable roots', judgeAuthorities({ roots: lost, agents: lost })[0], 'unobserved', 'could not be'],
  ['a valid configuration', judgeConfiguration(load(MINIMAL), '/hf.yaml'), 'ok', '/hf.yaml is valid'],
  [
    'a configuration with two faults',
    judgeConfiguration(load(`${MINIMAL}listen: { port: 0 }\nlog: { level: x }\n`), '/hf.yaml'),
    'failure',
    'listen.port: received 0, expected a whole number from 1 to 65535 and 1 more fault',
  ],
  ['a name with an address', name(seen(['10.0.0.1'])), 'ok', 'hf.example has the address 10.0.0.1'],
  ['a name without address', name(seen([])), 'failure', 'does not exist'],
  ['a name server that does not answer', name(lost), 'unobserved', 'no answer within 5 s'],
  ['clocks that agree', judgeClock(seen(-1_900)), 'ok', 'within 2 s'],
  ['a clock 3 s behind', judgeClock(seen(3_000)), 'warning', '3.0 s behind the secrets store'],
  ['a clock 31 s ahead', judgeClock(seen(-31_000)), 'failure', '31.0 s ahead of the secrets store'],
  ['an unknown clock', judgeClock(lost), 'unobserved', 'could not be observed'],
  ['half a disk', space(50 * GIB), 'ok', '50.0 GiB of 100.0 GiB are free'],
  ['a disk that is 86 % full', space(14 * GIB), 'warning', '14.0 GiB'],
  ['a disk that is 96 % full', space(4 * GIB), 'failure', '4.0 GiB'],
  ['an unknown disk', judgeSpace({ folder: '/data', space: lost }), 'unobserved', 'could not be'],
  ['syncs of 10 ms', sync(10), 'ok', 'at most 10.0 ms'],
  ['syncs of 11 ms', sync(11), 'warning', 'at most 11.0 ms'],
  ['syncs of 101 ms', sync(101), 'failure', 'at most 101.0 ms'],
  ['unmeasured syncs', judgeSync({ folder: '/data', p99Ms: lost }), 'unobserved', 'could not be'],
  ['a certificate for 30 days', expiry(30)[0], 'ok', 'expires in 30 days, on 2026-12-18'],
  ['a certificate for 29 days', expiry(29)[0], 'warning', 'expires in 29 days'],
  ['a certificate for 13 days', expiry(13)[0], 'warning', 'expires in 13 days'],
  ['a certificate for 6 days', expiry(6)[0], 'failure', 'expires in 6 days'],
  ['an expired certificate', expiry(-1)[0], 'failure', 'expired on 2026-11-17'],
  [
    'a certificate that cannot be read',
    judgeCertificates([{ path: '/ca.pem', notAfterMs: unobserved('EACCES') }], NOW)[0],
    'unobserved',
    'EACCES',
  ],
  ['a form that is read', format(2), 'ok', 'form 2 is written'],
  ['a newer form', format(3), 'failure', 'form 3 is written'],
  ['no form', judgeFormat({ reads: 2, stored: seen(undefined) }), 'ok', 'no server has written'],
  ['an unknown form', judgeFormat({ reads: 2, stored: lost }), 'unobserved', 'could not be'],
  ['agents of this and the previous minor', agents('0.3.4', '0.2.0'), 'ok', '2 nodes'],
  ['an agent that has not connected', agents(undefined), 'ok', '1 node, 1 without a recorded version'],
  ['an agent two minors behind', agents('0.3.0', '0.1.9'), 'warning', 'agents of 0.1.9 do not fit'],
  ['an agent ahead of the server', agents('0.4.0'), 'warning', 'agents of 0.4.0 do not fit'],
  ['no restore', restore(0), 'ok', 'no restore waits'],
  ['a declared restore', restore(2, 'n1'), 'warning', 'not confirmed for 2 tenants, whose agents remove'],
  ['a declared restore without a hold', restore(1), 'warning', 'confirmed for 1 tenant'],
  [
    'a restore that the operator has not declared',
    restore(0, 'n1', 'n2'),
    'warning',
    '2 nodes remove nothing, among them n1',
  ],
  ['an unknown restore', judgeRestore(lost), 'unobserved', 'could not be'],
  ['unknown agents', judgeAgents({ server: '0.3.0', agents: lost }), 'unobserved', 'could not be'],
])('%s', (_, finding, verdict, text) => {
  expect(finding).toMatchObject({ verdict, text: expect.stringContaining(text) })
  expect(finding?.remedy !== undefined).toBe(verdict !== 'ok')
})

describe('etcd', () => {
  const member = (endpoint: string, change: Partial<EngineStatus> = {}): EngineStatus => ({
    endpoint,
    revision: 1,
    dbSizeBytes: 10,
    dbSizeInUseBytes: 10,
    leader: endpoint === 'a',
    alarms: [],
    ...change,
  })
  const judge = (...statuses: EngineStatus[]) =>
    judgeEtcd({ endpoints: ['a', 'b', 'c'], statuses: seen(statuses), quotaBytes: 100 })
  const all = [member('a'), member('b'), member('c')]

  test.each<[string, readonly Finding[], readonly Verdict[], string]>([
    ['all members answer', judge(...all), ['ok', 'ok', 'ok'], '3 of 3 members answer'],
    ['one member is silent', judge(member('a'), member('b')), ['warning', 'ok', 'ok'], '2 of 3'],
    ['a majority is silent', judge(member('a')), ['failure', 'ok', 'ok'], 'a majority is needed'],
    [
      'there is no leader',
      judge(...all.map((one) => ({ ...one, leader: false }))),
      ['failure', 'ok', 'ok'],
      'none is the leader',
    ],
    ['an alarm', judge(...all.map((one) => ({ ...one, alarms: ['NOSPACE'] }))), ['ok', 'failure', 'ok'], ''],
    [
      '71 % of the quota',
      judge(member('a', { dbSizeBytes: 71 }), ...all.slice(1)),
      ['ok', 'ok', 'warning'],
      '',
    ],
    [
      '91 % of the quota',
      judge(member('a', { dbSizeBytes: 91 }), ...all.slice(1)),
      ['ok', 'ok', 'failure'],
      '',
    ],
    ['nothing answers', judge(), ['failure', 'unobserved', 'unobserved'], 'none of a, b, c answers'],
  ])('%s', (_, findings, verdicts, text) => {
    expect(findings.map(({ verdict }) => verdict)).toEqual(verdicts)
    expect(findings[0]?.text).toContain(text)
  })
})

describe('the secrets store', () => {
  const judge = (
    status: Parameters<typeof judgeSecretsStore>[0]['status'],
    probe: 'works' | 'denied' | 'refused',
  ) =>
    judgeSecretsStore({
      address: 'https://s:8200',
      status,
      identities: new Map([['api', status.kind === 'seen' ? seen(probe) : lost]]),
    }).map(({ verdict }) => verdict)

  test.each<[string, readonly Verdict[], readonly Verdict[]]>([
    ['is unsealed', judge(seen('unsealed'), 'works'), ['ok', 'ok']],
    ['has no policy', judge(seen('unsealed'), 'denied'), ['ok', 'failure']],
    ['refuses the login', judge(seen('unsealed'), 'refused'), ['ok', 'failure']],
    ['is sealed', judge(seen('sealed'), 'works'), ['failure', 'ok']],
    ['is not initialized', judge(seen('empty'), 'works'), ['failure', 'ok']],
    ['does not answer', judge(lost, 'works'), ['failure', 'unobserved']],
  ])('%s', (_, verdicts, expected) => {
    expect(verdicts).toEqual(expected)
  })
})

describe('the members of etcd', () => {
  const members = (...names: string[]) =>
    names.map((name) => ({
      id: 1n,
      name: name.replace('*', ''),
      peerUrls: [],
      clientUrls: [],
      isLearner: name.endsWith('*'),
    }))
  test.each<[string, readonly string[], number, Verdict, string]>([
    ['one', ['one'], 1, 'ok', '1 member with a vote'],
    ['three', ['one', 'b', 'c'], 3, 'ok', '3 members with a vote'],
    ['two', ['one', 'b'], 2, 'warning', 'etcd stops if one of them fails'],
    ['a learner', ['one', 'b', 'c*'], 3, 'warning', 'c has no vote yet'],
    ['a member that was added and did not start', ['one', '*'], 1, 'warning', 'a new member has no vote'],
    ['a member that the configuration lacks', ['one', 'b', 'c'], 2, 'warning', 'etcd.endpoints names 2'],
  ])('%s', (_, names, named, verdict, text) => {
    const endpoints = Array.from({ length: named }, (_, index) => `https://10.0.0.${index}:2379`)
    const found = judgeEtcdMembers({ members: seen(members(...names)), endpoints })
    expect(found).toMatchObject({ verdict, text: expect.stringContaining(text) })
    expect(found.remedy === undefined).toBe(verdict === 'ok')
  })
  test('unknown', () => {
    expect(judgeEtcdMembers({ members: lost, endpoints: [] }).verdict).toBe('unobserved')
  })
})

describe('the members of the secrets store', () => {
  test.each<[string, readonly string[], Verdict, string]>([
    ['a store that keeps its data elsewhere', [], 'ok', '0 members'],
    ['one', ['one'], 'ok', '1 member with a vote'],
    ['three', ['one', 'b', 'c'], 'ok', '3 members with a vote'],
    ['two', ['one', 'b'], 'warning', 'stops if one of them fails'],
    ['a sealed one of three', ['one', 'b', 'c!'], 'warning', 'c does not answer or is sealed'],
    ['two sealed ones of three', ['one', 'b!', 'c!'], 'failure', 'b, c does not answer or is sealed'],
    ['one without a vote', ['one', 'b', 'c*'], 'warning', 'c has no vote yet'],
  ])('%s', (_, names, verdict, text) => {
    const facts = names.map((name) => ({
      name: name.replace(/[*!]/, ''),
      isVoter: !name.endsWith('*'),
      serves: !name.endsWith('!'),
    }))
    const found = judgeStoreMembers(seen(facts))
    expect(found).toMatchObject({ verdict, text: expect.stringContaining(text) })
    expect(found.remedy === undefined).toBe(verdict === 'ok')
  })
  test('unknown', () => {
    expect(judgeStoreMembers(lost).verdict).toBe('unobserved')
  })
})

test('the exit code is 2 after a failure, 1 after a warning or an unobserved fact, otherwise 0', () => {
  const unknown: Finding = { check: 'a', verdict: 'unobserved', text: 't' }
  expect(exitCodeOf([ok('a', 't')])).toBe(0)
  expect(exitCodeOf([ok('a', 't'), unknown])).toBe(1)
  expect(exitCodeOf([ok('a', 't'), warning('a', 't', 'r')])).toBe(1)
  expect(exitCodeOf([unknown, failure('a', 't', 'r')])).toBe(2)
})

test('each check is one line, with its remedy after a failure', () => {
  const findings = [ok('clock', 'agrees'), failure('DNS', 'a.example does not exist', 'create its record')]
  expect(printFindings(findings)).toBe(
    'ok      clock: agrees\nFAILURE DNS: a.example does not exist. Remedy: create its record\n',
  )
  expect(JSON.parse(printJson(findings))).toEqual({ exitCode: 2, findings })
})

test('a percentile is a measured value', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
  expect([percentile(hundred, 99), percentile(hundred, 50), percentile([7], 99)]).toEqual([99, 50, 7])
  expect(percentile([], 99)).toBeNaN()
})
