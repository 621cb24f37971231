import { expect, test } from 'vitest'
import { spellingsOf } from './header-spellings.ts'

test.each([
  ['Via', ['Via']],
  ['Holdfast-Hop', ['Holdfast-Hop', 'Holdfast_Hop']],
  ['X-Forwarded-For', ['X-Forwarded-For', 'X-Forwarded_For', 'X_Forwarded-For', 'X_Forwarded_For']],
])('a header %s has every spelling with underscores', (name, spellings) => {
  expect(spellingsOf(name)).toEqual(spellings)
})
