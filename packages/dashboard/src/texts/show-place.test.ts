import { NODE_COUNTRY, NODE_REGION } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { showPlace } from './show-place.ts'

const GERMAN = { [NODE_COUNTRY]: 'DE', [NODE_REGION]: 'eu' }

test.each([
  ['its join token attests the reported country', GERMAN, 'DE', 'DE, eu, attested'],
  ['its join token attests no country', { [NODE_COUNTRY]: 'DE' }, null, 'DE, not attested'],
  ['its join token attests another country', { [NODE_COUNTRY]: 'FR' }, 'DE', 'FR, attested as DE'],
  ['it reports no country that its join token attests', {}, 'DE', 'not stated, attested as DE'],
  ['it reports no country', {}, null, 'not stated'],
  ['the attestation is not known yet', GERMAN, undefined, 'DE, eu'],
] as const)('shows the place of a node: %s', (_, labels, attested, shown) => {
  expect(showPlace({ labels, attested })).toBe(shown)
})
