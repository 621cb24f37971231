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
  expect(remediesOf(why(['Enroll a node.']))).toEqual([{ text: 'Enroll a node.', how: [] }])
})

test('every kind of change is explained', () => {
  for (const kind of CHANGE_KINDS) expect(HOW_TO[kind]('acme-1').length).toBeGreaterThan(15)
})
