// Which image reference counts as pinned. SPEC 2.2, 7.1; DECISIONS 3.

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

/** `latest` moves, so it pins nothing and is refused even beside a digest. */
function isPinned(image: string): boolean {
  const reference = parseImageReference(image)
  if (reference === undefined || reference.tag === 'latest') return false
  return reference.tag !== undefined || reference.digest !== undefined
}
