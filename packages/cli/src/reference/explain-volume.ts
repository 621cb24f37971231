// The page of `holdfast explain volume`: the fields of a volume in a manifest, and the two that only manifests have.

import { describeShape, type FieldText, type ShapeNode } from '@holdfast/contract'
import { volumeDocumentShape } from '@holdfast/manifest'
import type { PrintArea } from '../print/area.ts'
import { paint } from '../print/color.ts'
import { wrapWords } from '../print/fit.ts'
import { factLines, indent, section } from '../print/sections.ts'
import { alignRows } from '../print/table.ts'
import { plainForm } from './words.ts'

const EXAMPLE = ['kind: Volume', 'name: data', 'class: replicated', 'size: 10Gi', 'replicas: 1']

/** The fields of which a manifest needs one or the other are not marked as required. */
const REQUIRED = new Set(['kind', 'name', 'class'])

/** The fields that are explained here, because requests do not have them. */
const OF_MANIFESTS = ['size', 'node'] as const

export function volumeLines(area: PrintArea): string[] {
  const rows = Object.entries<ShapeNode>(volumeDocumentShape.fields).map(([name, { text }]) => [
    name,
    REQUIRED.has(name) ? 'required' : '',
    firstSentence(text),
  ])
  return [
    ...wrapWords(
      'The fields of a volume in a manifest, with size or sizeBytes. holdfast explain volume.FIELD explains one, for example volume.size.',
      area.columns,
    ),
    '',
    ...alignRows(rows, area.columns),
    ...section('Example', EXAMPLE, area),
    ...section('Mounted by a deployment', MOUNT, area),
  ]
}

const MOUNT = ['volumes:', '  - { volume: data, target: /var/lib/data, type: volume, readOnly: false }']

/** The page of `volume.size` or `volume.node`; empty for every other word. */
export function volumeFieldLines(word: string, area: PrintArea): string[][] {
  const found = OF_MANIFESTS.filter((name) => word === `volume.${name}`)
  return found.map((name) => {
    const shape: ShapeNode = volumeDocumentShape.fields[name]
    const { meaning = '', range = '', absent = '', example } = shape.text ?? {}
    return [
      paint(`volume.${name}`, 'bold', area.colored),
      ...indent(wrapWords(meaning, area.columns - 2)),
      '',
      ...factLines(
        [
          ['Type', describeShape(shape)],
          ['If absent', absent],
          ['Accepted', plainForm(range)],
          ['Example', String(example)],
        ],
        area,
      ),
    ]
  })
}

const firstSentence = (text: FieldText | undefined): string =>
  /^.*?[.](?= |$)/.exec(text?.meaning ?? '')?.[0] ?? ''
