// An image reference must be pinned by a tag other than latest, or by a digest.

import { parseImageReference } from '../../image-reference.ts'
import { isAbsent, onText, type Rule } from '../rule-engine/rule.ts'

export const imageRules: readonly Rule[] = [
  {
    code: 'image_required',
    at: 'image',
    stage: 'required',
    refuses: (value) => isAbsent(value) || value === '',
  },
  { code: 'image_required', at: 'image', stage: 'form', refuses: onText((image) => !isPinned(image)) },
]

/** Whether an image is pinned. The tag `latest` is rejected even beside a digest, because its content changes. */
function isPinned(image: string): boolean {
  const reference = parseImageReference(image)
  if (reference === undefined || reference.tag === 'latest') return false
  return reference.tag !== undefined || reference.digest !== undefined
}
