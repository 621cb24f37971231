import { expect, expectTypeOf, test } from 'vitest'
import { defined } from './defined.ts'

interface Labelled {
  id: number
  label?: string
  rank?: number | null
}

function labelled(label: string | undefined, rank: number | null | undefined): Labelled {
  return { id: 1, ...defined({ label, rank }) }
}

test('defined() leaves out undefined members and keeps every other value', () => {
  expect(labelled(undefined, undefined)).toStrictEqual({ id: 1 })
  expect(labelled('a', null)).toStrictEqual({ id: 1, label: 'a', rank: null })
  expect(defined({ zero: 0, no: false, empty: '', none: undefined })).toStrictEqual({
    zero: 0,
    no: false,
    empty: '',
  })
})

test('defined() makes members optional only if they may be undefined', () => {
  const label = labelled('a', 1).label
  expectTypeOf(defined({ label })).toEqualTypeOf<{ label?: string }>()
  expectTypeOf(defined({ id: 1, label })).toEqualTypeOf<{ id: number; label?: string }>()
})
