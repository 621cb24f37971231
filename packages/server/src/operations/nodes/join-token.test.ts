// The command with which a machine joins: server URL, node name and certificate pin.

import { expect, test } from 'vitest'
import { joinCommand } from './join-token.ts'

test('adds the pin to the join command where there is one', () => {
  const words = 'holdfast-agent enroll --server https://h'
  expect(joinCommand('https://h', 'n1', 't')).toBe(`${words} --token t --name n1`)
  expect(joinCommand('https://h', 'n1', 't', 'sha256:0')).toBe(
    `${words} --ca-pin sha256:0 --token t --name n1`,
  )
})
