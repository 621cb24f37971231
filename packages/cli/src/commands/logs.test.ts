// `holdfast logs` against scripted API responses.

import { expect, test } from 'vitest'
import { invocation, scriptClient, scriptTerminal } from '../terminal/scripted-terminal.fixture.ts'
import { logs } from './logs.ts'

const line = (text: string, canary?: true) =>
  JSON.stringify({ time: '2026-01-31T12:00:00Z', replica: 1, canary, node: 'n1', stream: 'stdout', text })
const gap = JSON.stringify({ unavailable: { replica: 1, canary: true, node: 'n2', reason: 'node away' } })
const skip = JSON.stringify({ skipped: { replica: 1, canary: true, lines: 2, bytes: 9 } })

async function printedFor(request: string, lines: readonly string[], options = {}) {
  const client = scriptClient({ [request]: lines.map((each) => `${each}\n`).join('') })
  const terminal = scriptTerminal()
  expect(await logs.run(invocation(terminal, ['web'], options), client)).toBe(0)
  return terminal.printed
}

test('logs marks the lines of a canary, whose replica has the number of another one', async () => {
  const lines = [line('old'), line('new', true), gap, skip]
  expect(await printedFor('GET /deployments/web/logs', lines)).toEqual({
    out: '1 | old\n1 (canary) | new\n',
    err: 'replica 1 (canary) on n2 cannot be read: node away\nreplica 1 (canary): 2 lines were skipped\n',
  })
})

test('logs --canary asks for the lines of the canary only', async () => {
  const printed = await printedFor('GET /deployments/web/logs?canary=true', [line('new', true)], {
    canary: true,
  })
  expect(printed.out).toBe('1 (canary) | new\n')
})
