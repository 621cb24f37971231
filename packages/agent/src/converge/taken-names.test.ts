import { expect, test } from 'vitest'
import { createTakenNames } from './taken-names.ts'

test('names created while containers are listed stay taken, and names of removed containers are free', () => {
  const names = createTakenNames()
  names.beginList()(['web', 'web.1'])
  names.add('web.2')
  names.drop('web')
  expect([...names.all()]).toEqual(['web.1', 'web.2'])
  const applyList = names.beginList()
  names.add('web.3')
  names.add('web.4')
  names.drop('web.4')
  // The list of names may be older than the creates: web.2 is already gone, and web.3 did not exist yet.
  applyList(['web.1', 'db'])
  expect([...names.all()]).toEqual(['web.1', 'db', 'web.3'])
})
