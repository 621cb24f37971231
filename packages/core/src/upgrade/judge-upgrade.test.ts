// Tests what blocks an upgrade and what follows from it.

import { expect, test } from 'vitest'
import { judgeUpgrade, type UpgradeFacts } from './judge-upgrade.ts'

const AT_REST: UpgradeFacts = {
  program: { version: '0.3.0', oldest: 1, newest: 3, since: '0.3.0' },
  writes: 3,
  raisedBy: 'servers',
  servers: [
    { id: 'srv_a', version: '0.3.0', reads: 3 },
    { id: 'srv_b', version: '0.3.0', reads: 3 },
  ],
  agents: [{ node: 'acme/n1', version: '0.3.0' }],
  records: [],
  unreadable: 0,
}
const server = (id: string, version: string, reads = 2) => ({ id, version, reads })
const agent = (node: string, version: string) => ({ node, version })
const NEW = server('srv_b', '0.3.0', 3)
const OLD = server('srv_a', '0.2.4')

test('nothing blocks and nothing follows if everything has the version of the program', () => {
  expect(judgeUpgrade(AT_REST)).toEqual([])
})

test.each<[string, Partial<UpgradeFacts>, string, RegExp]>([
  ['a server of the version before', { servers: [OLD, NEW] }, 'follows servers', /srv_a runs 0\.2\.4\./],
  ['a server of an older patch', { servers: [server('srv_a', '0.3.0'), NEW] }, '', /^$/],
  [
    'a server two minor versions before',
    { servers: [server('srv_a', '0.1.0'), NEW] },
    'blocks servers',
    /more than one/,
  ],
  [
    'a server of another major version',
    { servers: [server('srv_a', '1.0.0'), NEW] },
    'blocks servers',
    /newer than this/,
  ],
  [
    'a newer server',
    { servers: [server('srv_a', '0.4.0'), NEW] },
    'blocks servers',
    /Run the plan of version 0\.4\.0/,
  ],
  [
    'a server without a version',
    { servers: [server('srv_a', 'x'), NEW] },
    'blocks servers',
    /no version of Holdfast/,
  ],
  [
    'an agent of the version before',
    { agents: [agent('acme/n1', '0.2.0')] },
    'follows agents',
    /Node acme\/n1: /,
  ],
  [
    'an agent two versions before',
    { agents: [agent('acme/n1', '0.1.9')] },
    'blocks agents',
    /do not support/,
  ],
  ['a newer agent', { agents: [agent('acme/n1', '0.4.0')] }, 'blocks agents', /newer than 0\.3\.0/],
  ['an unreadable record', { unreadable: 1 }, 'blocks records', /1 record cannot be decoded/],
  [
    'records of a form that the program does not read',
    {
      program: { ...AT_REST.program, oldest: 2 },
      records: [{ kind: 'dep', form: 1, becomes: 2, count: 7 }],
    },
    'blocks records',
    /7 dep records are of form 1, which 0\.3\.0 does not read/,
  ],
  [
    'records that are being rewritten',
    { records: [{ kind: 'dep', form: 1, becomes: 3, count: 1 }] },
    'follows records',
    /1 dep record is of form 1\. Wait/,
  ],
])('%s', (_, change, expected, text) => {
  const found = judgeUpgrade({ ...AT_REST, ...change })
  expect(found.map(({ level, subject }) => `${level} ${subject}`).join()).toBe(expected)
  expect(found.map((each) => `${each.text} ${each.remedy}`).join()).toMatch(text)
})

test('the form is raised by the last upgraded server, by an operator, or by a request', () => {
  const before = { ...AT_REST, writes: 2 }
  const remedies = (facts: UpgradeFacts) =>
    judgeUpgrade(facts).flatMap(({ subject, remedy }) => (subject === 'records' ? [remedy] : []))
  expect(remedies({ ...before, servers: [OLD, NEW] })).toEqual([
    'To keep the way back open, set upgrade.finalize to manual before.',
  ])
  expect(remedies({ ...before, raisedBy: 'operator' })).toEqual(['holdfast-server upgrade finalize'])
  expect(remedies({ ...before, raisedBy: 'operator', servers: [OLD, NEW] })).toEqual([
    'After the last server is upgraded: holdfast-server upgrade finalize',
  ])
  expect(remedies({ ...before, raisedBy: 'request' })).toEqual([])
})

test('records that wait for a form are rewritten once it is written', () => {
  const records = [{ kind: 'dep', form: 1, becomes: 3, count: 2 }]
  const [found] = judgeUpgrade({ ...AT_REST, writes: 2, raisedBy: 'request', records })
  expect(found).toMatchObject({ level: 'follows', remedy: expect.stringContaining('once form 3 is written') })
})

test('agents of one version are one finding that names five nodes at most', () => {
  const agents = [7, 2, 1, 3, 4, 5, 6].map((number) => agent(`acme/n${number}`, '0.2.0'))
  const [found, ...others] = judgeUpgrade({ ...AT_REST, agents })
  expect(others).toEqual([])
  expect(found?.text).toMatch(/^Nodes acme\/n1, acme\/n2, acme\/n3, acme\/n4, acme\/n5 and 2 more: /)
})

test('the upgrade of an only server interrupts the API', () => {
  const found = judgeUpgrade({ ...AT_REST, servers: [OLD] })
  expect(found.map(({ text }) => text)).toEqual([
    'Server srv_a runs 0.2.4.',
    expect.stringContaining('Only one server runs'),
  ])
})

test('findings that block come first', () => {
  const found = judgeUpgrade({ ...AT_REST, servers: [OLD, NEW], agents: [agent('acme/n1', '0.1.0')] })
  expect(found.map(({ level }) => level)).toEqual(['blocks', 'follows'])
})
