// An order about a machine of the development platform that nobody can carry out is no success.

import { makeTempFolder } from '@holdfast/testkit'
import { afterAll, expect, test } from 'vitest'
import { folderFromArguments } from '../../scripts/dev/dev-folder.ts'
import { orderPower } from '../../scripts/dev/power.ts'

const folder = makeTempFolder('dev-power')
afterAll(() => folder.remove())

test.each([
  ['half an order', ['off'], /^npm run dev:node -- off NODE/],
  ['an order without a platform', ['off', 'acme-2'], /^No platform with nodes is up/],
])('%s', async (_, words, text) => {
  const answer = await orderPower(folderFromArguments(['--folder', folder.path]), words)
  expect(answer).toEqual({ done: false, text: expect.stringMatching(text) })
})
