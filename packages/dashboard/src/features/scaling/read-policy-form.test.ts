import { expect, test } from 'vitest'
import { readPolicyForm } from './read-policy-form.ts'

test('numbers are sent as numbers, other words as typed, and empty fields not at all', () => {
  const typed: { readonly [field: string]: string } = {
    min: ' 2 ',
    max: 'ten',
    metric: 'cpu',
    scaleDownDelay: '',
  }
  expect(readPolicyForm((field) => typed[field] ?? '')).toEqual({ min: 2, max: 'ten', metric: 'cpu' })
})
