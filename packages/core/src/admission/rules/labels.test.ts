import { expect, test } from 'vitest'
import { aBody, forCreate, type Row, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'

const many = (count: number, key = 'k') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${key}${index}`, 'v']))

const ROWS: Row[] = [
  ['labels of my own', { labels: { team: 'a b', 'example.com/tier': '', '1': 'x' } }],
  ['a reserved prefix', { labels: { 'holdfast.io/x': 'y' } }, 'label_reserved labels["holdfast.io/x"]'],
  ['traefik', { labels: { 'traefik.enable': 'y' } }, 'label_reserved labels["traefik.enable"]'],
  ['Traefik', { labels: { 'Traefik.enable': 'y' } }, 'label_reserved labels["Traefik.enable"]'],
  [
    'caddy',
    { labels: { caddy: 'y', caddy_0: 'y' } },
    'label_reserved labels.caddy',
    'label_reserved labels.caddy_0',
  ],
  [
    'docker',
    { labels: { 'com.docker.compose.project': 'y' } },
    'label_reserved labels["com.docker.compose.project"]',
  ],
  ['a blank in a key', { labels: { 'a b': 'y' } }, 'field_type_invalid labels["a b"]'],
  ['two slashes', { labels: { 'a/b/c': 'y' } }, 'field_type_invalid labels["a/b/c"]'],
  [
    'a name of 64',
    { labels: { [`p/${'a'.repeat(64)}`]: 'y' } },
    `field_type_invalid labels["p/${'a'.repeat(64)}"]`,
  ],
  ['a name of 63', { labels: { [`p/${'a'.repeat(63)}`]: 'y' } }],
  ['a control character', { labels: { a: 'x\u001b[31m' } }, 'field_type_invalid labels.a'],
  ['right-to-left text', { labels: { a: '\u202ex' } }, 'field_type_invalid labels.a'],
  ['a value of 253', { labels: { a: 'x'.repeat(253) } }],
  ['a value of 254', { labels: { a: 'x'.repeat(254) } }, 'field_type_invalid labels.a'],
  ['a number as value', { labels: { a: 1 } }, 'field_type_invalid labels.a'],
  ['65 labels', { labels: many(65) }, 'list_too_long labels'],
  [
    'residency by hand, alone',
    { labels: { 'holdfast.io/data-residency-country': 'DE', 'holdfast.io/blocked-countries': 'US\n' } },
    'residency_label_handwritten labels["holdfast.io/data-residency-country"]',
    'residency_label_handwritten labels["holdfast.io/blocked-countries"]',
  ],
]

test.each(ROWS)('rules of labels: %s', (_about, parts, ...expected) => {
  expect(summary(checkBody(aBody(parts), forCreate()))).toEqual(expected)
})
