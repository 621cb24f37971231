// A power command of the development platform fails if the command is incomplete or no platform runs.

import { makeTempFolder } from '@holdfast/testkit'
import { afterAll, expect, test } from 'vitest'
import { folderFromArguments } from '../../scripts/dev/dev-folder.ts'
import { sendPowerCommand } from '../../scripts/dev/power.ts'

const folder = makeTempFolder('dev-power')
afterAll(() => folder.remove())

test.each([
  ['an incomplete command', ['off'], /^npm run dev:node -- off NODE/],
  ['a command without a platform', ['off', 'acme-2'], /^No platform with nodes is running/],
])('%s fails', async (_, words, text) => {
  const result = await sendPowerCommand(folderFromArguments(['--folder', folder.path]), words)
  expect(result).toEqual({ done: false, text: expect.stringMatching(text) })
})
