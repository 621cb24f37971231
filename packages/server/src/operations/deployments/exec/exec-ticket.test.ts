import type { AssignmentId, NodeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { realIds as ids } from '../../../system-clock.ts'
import { type ExecOrder, mintExecTicket, openExecTicket } from './exec-ticket.ts'

const ORDER: ExecOrder = {
  assignmentId: 'rep_1' as AssignmentId,
  nodeId: 'node_1' as NodeId,
  replica: 1,
  tty: true,
  command: ['login', 'canary-argument'],
}

test('opens a sealed command only with its own ticket and stores nothing readable', () => {
  const [mine, other] = [mintExecTicket(ids, ORDER), mintExecTicket(ids, ORDER)]
  expect(openExecTicket(mine.text, mine)).toEqual(ORDER)
  expect(openExecTicket(other.text, mine)).toBeUndefined()
  expect(openExecTicket('', mine)).toBeUndefined()
  const { text, ...stored } = mine
  expect(Buffer.from(stored.sealed, 'base64url').toString('latin1')).not.toContain('canary')
  expect(JSON.stringify(stored)).not.toContain(text)
})
