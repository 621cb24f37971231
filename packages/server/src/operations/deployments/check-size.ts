// Does the spec fit into one transaction? The record, its archive entry and a kept answer each hold it, and the store takes
// 1.5 MiB at once (SAFETY 4a). Escapes can make a sound body three times as long as it was.

import type { Rejection } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import type { SpecIdentity } from './store-deployment.ts'

const MAX_SPEC_BYTES = 400 * 1024

export function checkSpecSize({ bytes }: SpecIdentity): Rejection[] {
  return bytes <= MAX_SPEC_BYTES ? [] : [reject('body_too_large', 'body', undefined, { max: MAX_SPEC_BYTES })]
}
