import { expect, test } from 'vitest'
import { readLabels } from './read-labels.ts'

test('pairs are separated by spaces or commas, and only the first equals sign counts', () => {
  expect(readLabels('team=shop,  tier=a=b  bare')).toEqual({ team: 'shop', tier: 'a=b', bare: '' })
  expect(readLabels('')).toEqual({})
})
