import {
  NODE_LOSS_ACTIONS,
  QUOTA_KINDS,
  ROLES,
  ROTATION_STEPS,
  SECRET_CHARSETS,
  SECRET_ENCODINGS,
  VOLUME_CLASSES,
} from '@holdfast/contract'
import { expect, test } from 'vitest'
import {
  CHARSET_WORDS,
  ENCODING_WORDS,
  NODE_LOSS_WORDS,
  QUOTA_WORDS,
  ROLE_WORDS,
  ROTATION_WORDS,
  VOLUME_CLASS_WORDS,
} from './vocabulary.ts'

test('the enum values of help and completion are those of the contract', () => {
  expect(ROLE_WORDS).toEqual(ROLES)
  expect(QUOTA_WORDS).toEqual(QUOTA_KINDS)
  expect(CHARSET_WORDS).toEqual(SECRET_CHARSETS)
  expect(ENCODING_WORDS).toEqual(SECRET_ENCODINGS)
  expect(VOLUME_CLASS_WORDS).toEqual(VOLUME_CLASSES)
  expect(NODE_LOSS_WORDS).toEqual(NODE_LOSS_ACTIONS)
  expect(ROTATION_WORDS).toEqual([...ROTATION_STEPS, 'abort'])
})
