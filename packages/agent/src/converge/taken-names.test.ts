import { expect, test } from 'vitest'
import { createTakenNames } from './taken-names.ts'

test('what is made while all are listed stays taken, and what is removed is free', () => {
  const names = createTakenNames()
  names.beginList()(['web', 'web.1'])
  names.add('web.2')
  names.drop('web')
  expect([...names.all()]).toEqual(['web.1', 'web.2'])
  const take = names.beginList()
  names.add('web.3')
  names.add('web.4')
  names.drop('web.4')
  // A list says what it knew: by it web.2 is gone, and web.3 was not there yet.
  take(['web.1', 'db'])
  expect([...names.all()]).toEqual(['web.1', 'db', 'web.3'])
})
