// The texts of the request body of a network.

import type { FieldTexts } from '../shapes/shape.ts'

export const networkTexts = {
  name: {
    meaning: 'The name of the network, by which deployments name it. It is unique in the tenant.',
    range: 'lowercase letters, digits and hyphens, first a letter, at most {nameCharacters} characters',
    example: 'backend',
  },
  driver: {
    meaning: 'The driver of the container engine.',
    default: 'bridge',
    range: 'bridge',
    example: 'bridge',
  },
  labels: {
    meaning: "Labels of the network, for the tenant's own use. The engine stores them with the network.",
    default: {},
    range:
      'at most {labels} entries; the prefixes holdfast.io/, traefik., caddy and com.docker. are reserved',
    example: { team: 'shop' },
  },
  internal: {
    meaning:
      'Whether the network has no way out. Containers that are on internal networks only reach each other, and nothing outside.',
    default: false,
    range: 'true or false',
    example: true,
  },
  nodeId: {
    meaning: 'The node on which the network exists. Deployments that name the network run on that node only.',
    absent: 'the only node that accepts work; with several nodes the request is rejected',
    range: 'the id of a schedulable node of the tenant',
    example: 'node_01JCPZ0000000000000000000A',
  },
} satisfies FieldTexts
