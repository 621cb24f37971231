// The texts of the fields of placement.

import type { FieldTexts } from '../shapes/shape.ts'

export const placementTexts = {
  residency: {
    meaning:
      'Where the data may be: a country, a region or countries that are excluded. It is a hard rule, checked when a replica is placed and whenever the labels of a node change. Only locations that the join token of a node attests are used.',
    absent: 'replicas may run in every country',
    range: 'an object with country, region and blockedCountries, all optional',
    example: { region: 'eu', blockedCountries: ['HU'] },
  },
  constraints: {
    meaning:
      'Conditions on the labels of a node. All of them must hold. holdfast get nodes -o yaml shows the labels.',
    absent: 'the labels of a node do not matter',
    range: 'at most {constraints} entries',
    example: [{ label: 'disk', operator: 'in', values: ['ssd'] }],
  },
  affinity: {
    meaning:
      'Deployments of which a replica must already be on the same node. Use it for deployments that call each other by name, because names do not reach other nodes yet. If the name of the deployment itself is listed, all replicas run on one node.',
    absent: 'replicas are placed regardless of other deployments',
    range: 'at most {affinityNames} names of deployments',
    example: ['database'],
  },
  antiAffinity: {
    meaning:
      'Deployments of which no replica may be on the same node. With the name of the deployment itself in the list, each node runs at most one replica. The rule is hard: with fewer fitting nodes than replicas, the other replicas wait without a node, and holdfast why NAME lists the reasons. Use spread for a preference.',
    absent: 'replicas may share a node with any deployment',
    range: 'at most {affinityNames} names of deployments',
    example: ['web'],
  },
  spread: {
    meaning:
      'The key of a node label, such as zone. Replicas are distributed evenly over the values of that label. It is a preference: it never leaves a replica without a node. Nodes without the label form one group.',
    absent: 'replicas are distributed evenly over the nodes',
    range: 'a label key: name or prefix/name of letters, digits, ".", "_" and "-"',
    example: 'zone',
  },
} satisfies FieldTexts

export const constraintTexts = {
  label: {
    meaning: 'The key of the node label to compare.',
    range: 'a label key: name or prefix/name of letters, digits, ".", "_" and "-"',
    example: 'disk',
  },
  operator: {
    meaning:
      'How the label is compared. in: the label has one of the values. notIn: it has none of them, or is absent. exists: the node has the label. notExists: it does not.',
    range: 'in, notIn, exists or notExists',
    example: 'in',
  },
  values: {
    meaning: 'The values to compare with. in and notIn require it; exists and notExists do not allow it.',
    absent: 'the operator must be exists or notExists',
    range: '1 to {constraintValues} values of at most 253 printable ASCII characters',
    example: ['ssd', 'nvme'],
  },
} satisfies FieldTexts

export const residencyTexts = {
  country: {
    meaning:
      'Replicas run only on nodes in this country. A node without an attested country does not qualify.',
    absent: 'the country does not matter',
    range: 'an ISO 3166-1 country code of two capital letters',
    example: 'DE',
  },
  region: {
    meaning:
      'Replicas run only on nodes in this region. A region is a named list of countries in the configuration of the platform; holdfast get regions lists them.',
    absent: 'the region does not matter',
    range: 'the name of a region that the platform declares',
    example: 'eu',
  },
  blockedCountries: {
    meaning:
      'Replicas do not run on nodes in these countries. A node without a country is not blocked; add country or region to exclude it.',
    absent: 'no country is blocked',
    range: 'at most {blockedCountries} country codes of two capital letters, each once, without country',
    example: ['US', 'CN'],
  },
} satisfies FieldTexts
