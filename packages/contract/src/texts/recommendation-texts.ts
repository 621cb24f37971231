// The texts of the request body that applies a recommendation.

import type { FieldTexts } from '../shapes/shape.ts'

export const recommendationTexts = {
  parameters: {
    meaning: 'The change to make, if it differs from the recommended one.',
    absent: 'the parameters of the recommendation',
    range: 'an object with action and the parameter of that action',
    example: { action: 'set_replicas', target_replicas: 2 },
  },
} satisfies FieldTexts

export const recommendationParameterTexts = {
  action: {
    meaning: 'The action of the recommendation.',
    range: 'set_replicas or resize',
    example: 'set_replicas',
  },
  target_replicas: {
    meaning: 'For set_replicas: the new number of copies besides the primary.',
    absent: 'required for set_replicas, rejected for resize',
    range: 'a whole number above 0',
    example: 2,
  },
  target_size_bytes: {
    meaning: 'For resize: the new size of the volume.',
    absent: 'required for resize, rejected for set_replicas',
    range: 'a whole number of bytes above 0',
    example: 21_474_836_480,
  },
} satisfies FieldTexts
