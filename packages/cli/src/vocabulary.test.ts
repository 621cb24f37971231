import { QUOTA_KINDS, ROLES } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { QUOTA_WORDS, ROLE_WORDS } from './vocabulary.ts'

test('the words are those of the contract', () => {
  expect(ROLE_WORDS).toEqual(ROLES)
  expect(QUOTA_WORDS).toEqual(QUOTA_KINDS)
})
