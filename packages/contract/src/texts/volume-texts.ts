// The texts of the request bodies of volumes.

import type { FieldTexts } from '../shapes/shape.ts'

export const volumeTexts = {
  name: {
    meaning: 'The name of the volume. It is unique in the tenant.',
    range: 'lowercase letters, digits and hyphens, first a letter, at most {nameCharacters} characters',
    example: 'orders-data',
  },
  class: {
    meaning:
      'How the data is kept. replicated: on one node, with copies on others. ephemeral: on one node only. object: can be created and not mounted.',
    range: 'ephemeral, replicated or object',
    example: 'replicated',
  },
  sizeBytes: {
    meaning:
      'The bytes that a workload can rely on. A copy claims twice as many in the storage pool of its node, because overwritten data is not freed at once.',
    range: '16 MiB to 16 TiB, in whole bytes',
    example: 10_737_418_240,
  },
  replicas: {
    meaning: 'The number of copies besides the primary, each on a node of its own.',
    default: 0,
    range: '0 to 4 for the class replicated, 0 for the others',
    example: 1,
  },
  nodeId: {
    meaning: 'The node that becomes the primary when the volume is created.',
    absent: 'the scheduler chooses the node with the most free storage',
    range: 'the id of a node of the tenant',
    example: 'node_01JCPZ0000000000000000000A',
  },
  residency: {
    meaning:
      'Where the data may be: a country, a region or countries that are excluded. It applies to the primary and to every copy.',
    absent: 'the data may be in every country',
    range: 'an object with country, region and blockedCountries, all optional',
    example: { region: 'eu' },
  },
} satisfies FieldTexts

export const volumePatchTexts = {
  replicas: {
    meaning: 'The new number of copies besides the primary.',
    range: volumeTexts.replicas.range,
    example: 2,
  },
} satisfies FieldTexts

export const volumeResizeTexts = {
  sizeBytes: {
    meaning: 'The new size of the volume. Every node that holds a copy needs room for it.',
    range: volumeTexts.sizeBytes.range,
    example: 21_474_836_480,
  },
} satisfies FieldTexts

export const volumeReplicaTexts = {
  node_id: {
    meaning: 'The node that holds the new copy.',
    range: 'the id of a node of the tenant without a copy of the volume',
    example: 'node_01JCPZ0000000000000000000A',
  },
} satisfies FieldTexts

export const volumePromotionTexts = {
  nodeId: {
    meaning: 'The node whose copy becomes the primary.',
    absent: 'the copy that loses least',
    range: 'the id of a node with a copy of the volume',
    example: 'node_01JCPZ0000000000000000000A',
  },
  force: {
    meaning: 'Accept a copy that is further behind than the platform allows. Its missing writes are lost.',
    absent: 'false',
    range: 'true or false',
    example: true,
  },
  primaryIsDead: {
    meaning:
      'Your word that the machine of the primary is off and stays off until its agent has read the change. It is needed for a copy that is not promotable. If it is wrong, two machines write at the same time.',
    absent: 'false',
    range: 'true or false',
    example: false,
  },
} satisfies FieldTexts
