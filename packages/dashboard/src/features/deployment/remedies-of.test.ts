import { type Candidate, CHANGE_KINDS, type Change, type NodeId, type Why } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { HOW_TO } from '../../texts/how-to.ts'
import { remediesOf } from './remedies-of.ts'

const candidate = (name: string, text: string, ...changes: Change[]): Candidate => ({
  nodeId: `node_${name}` as NodeId,
  nodeName: name,
  refusals: [],
  cure: { text, changes },
})
const why = (cure: readonly string[], ...candidates: Candidate[]): Why => ({
  decidedAt: null,
  phase: 'Pending',
  summary: '',
  candidates,
  cure: [...cure],
})
const uncordon: Change = { kind: 'uncordon', text: 'Uncordon acme-1.' }
const label: Change = { kind: 'set_label', text: 'Set disk=ssd on acme-3.' }

test('a remedy of one uncordon has a button, others have words', () => {
  const found = remediesOf(
    why(
      ['Uncordon acme-1.', 'Set disk=ssd on acme-3.'],
      candidate('acme-3', 'Set disk=ssd on acme-3.', label),
      candidate('acme-1', 'Uncordon acme-1.', uncordon),
    ),
  )
  expect(found.map(({ text }) => text)).toEqual(['Uncordon acme-1.', 'Set disk=ssd on acme-3.'])
  expect(found[0]?.uncordon).toEqual({ id: 'node_acme-1', name: 'acme-1' })
  expect(found[1]?.uncordon).toBeUndefined()
  expect(found[1]?.how[0]).toContain('configuration of the agent on acme-3')
})

test('a remedy that needs more than the uncordon has no button', () => {
  const [both] = remediesOf(why(['both'], candidate('acme-1', 'both', uncordon, label)))
  expect(both?.uncordon).toBeUndefined()
  expect(both?.how).toHaveLength(2)
})

test('a remedy without a node is shown as sent', () => {
  expect(remediesOf(why(['Enroll a node.']))).toEqual([{ text: 'Enroll a node.', how: [], pages: [] }])
})

const free: Change = { kind: 'free', text: 'Free 1 GiB on acme-2.' }
const raise: Change = { kind: 'raise_quota', text: 'Raise the containers quota to 6.', limit: 6 }

test('a remedy leads to the node on which resources must be freed, and to the quotas', () => {
  const found = remediesOf(
    why(
      [free.text, raise.text, 'both', label.text],
      candidate('acme-2', free.text, free),
      candidate('acme-1', raise.text, raise),
      candidate('acme-4', 'both', free, free, raise),
      candidate('acme-3', label.text, label),
    ),
  )
  const node = (name: string) => ({ kind: 'node', node: { id: `node_${name}`, name } })
  const quotas = { kind: 'quotas' }
  expect(found.map(({ pages }) => pages)).toEqual([[node('acme-2')], [quotas], [node('acme-4'), quotas], []])
  for (const { how, uncordon } of found) expect([how.length > 0, uncordon]).toEqual([true, undefined])
})

test('a remedy of a group leads to no node', () => {
  const reasons: [] = []
  const group = {
    reasons,
    count: 2,
    nodes: ['acme-1', 'acme-2'],
    cure: { text: 'both', changes: [free, raise] },
  }
  const [both] = remediesOf({ ...why(['both']), groups: [group] })
  expect(both?.pages).toEqual([{ kind: 'quotas' }])
  expect(both?.how[0]).toContain('acme-1')
})

test('every kind of change is explained', () => {
  for (const kind of CHANGE_KINDS) expect(HOW_TO[kind]('acme-1').length).toBeGreaterThan(15)
})
