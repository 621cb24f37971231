// Reads `volumes` and `tmpfs` of a service: which volume, where, and how. Host paths are refused: a node belongs to the
// platform, and no manifest names a path of it.

import { isMountTarget } from '@holdfast/core/admission'
import type { RequestedMount, Translation } from '../draft.ts'
import { itemsOf, oneOrMany, visitMembers } from '../members.ts'
import { booleanOf, bytesOf } from '../source/scalars.ts'
import { memberOf, textOf, type Written, type WrittenMap } from '../source/written.ts'

const HOST_PATH = 'It is a path of the machine, and containers cannot mount those.'
const HOST_PATH_NEXT = 'Add the files to the image, use environment, or copy them into a volume.'
const NO_TARGET = 'Its target is no absolute path inside the container.'
const PATH = /^(?:[./~\\]|[A-Za-z]:\\)|[/\\]/
const MODES: ReadonlySet<string> = new Set([
  'rw',
  'ro',
  'nocopy',
  'z',
  'Z',
  'cached',
  'delegated',
  'consistent',
])

export function readMounts(translation: Translation, node: Written): void {
  for (const item of itemsOf(translation.report, node))
    if (item.kind === 'map') readLong(translation, item)
    else readShort(translation, item)
}

function readShort(translation: Translation, item: Written) {
  const { report } = translation
  const text = textOf(item) ?? ''
  // A drive letter of Windows is part of a path, not a separator.
  if (/^[A-Za-z]:[\\/]/.test(text)) return report.refused(item, HOST_PATH, HOST_PATH_NEXT)
  const [first = '', target, modes = '', ...more] = text.split(':')
  if (more.length > 0) return report.refused(item, 'It is not a mount.')
  if (target === undefined)
    return add(translation, { ...PLAIN, node: item, kind: 'anonymous', target: first })
  if (PATH.test(first)) return report.refused(item, HOST_PATH, HOST_PATH_NEXT)
  const options = modes === '' ? [] : modes.split(',')
  if (options.some((option) => !MODES.has(option))) return report.refused(item, 'It has an unknown option.')
  const mount = { ...PLAIN, node: item, kind: 'volume', source: first, target } as const
  add(translation, { ...mount, readOnly: options.includes('ro'), copies: !options.includes('nocopy') })
}

const PLAIN = { source: '', readOnly: false, copies: true } as const

const UNUSED = ['Volumes of Holdfast have no such setting.'] as const

function readLong(translation: Translation, item: WrittenMap) {
  const { report } = translation
  const type = textOf(memberOf(item, 'type')) ?? 'volume'
  const [source = '', target = ''] = ['source', 'target'].map((key) => textOf(memberOf(item, key)))
  if (type === 'bind' || type === 'npipe') return report.refused(item, HOST_PATH, HOST_PATH_NEXT)
  if (type !== 'volume' && type !== 'tmpfs') return report.refused(item, 'Mounts are volumes or tmpfs.')
  const inner = memberOf(item, 'volume')
  if (textOf(memberOf(inner, 'subpath')) !== undefined)
    return report.refused(item, 'A mount is a whole volume, not a folder of one.', 'Use a volume of its own.')
  const handled = () => {}
  visitMembers(item, {
    report,
    handlers: {
      ...{ type: handled, source: handled, target: handled, read_only: handled },
      volume: (member) => visitInner(translation, member, ['nocopy']),
      tmpfs: (member) => visitInner(translation, member, ['size']),
    },
    refusals: { consistency: UNUSED, bind: UNUSED, image: UNUSED },
  })
  const mount = {
    node: item,
    source,
    target,
    readOnly: booleanOf(textOf(memberOf(item, 'read_only'))) === true,
  }
  if (type === 'tmpfs')
    return add(translation, {
      ...mount,
      ...sizeOf(memberOf(memberOf(item, 'tmpfs'), 'size')),
      kind: 'tmpfs',
      copies: false,
    })
  const copies = booleanOf(textOf(memberOf(inner, 'nocopy'))) !== true
  add(translation, { ...mount, kind: source === '' ? 'anonymous' : 'volume', copies })
}

function visitInner({ report }: Translation, member: Written, known: readonly string[]) {
  if (member.kind !== 'map') return report.refused(member, 'It is not a map.')
  const refusals = { labels: UNUSED, mode: UNUSED }
  visitMembers(member, {
    report,
    handlers: Object.fromEntries(known.map((key) => [key, () => {}])),
    refusals,
  })
}

function sizeOf(node: Written | undefined): { sizeBytes?: number } {
  const sizeBytes = bytesOf(textOf(node))
  return sizeBytes === undefined ? {} : { sizeBytes }
}

/** Reads the member `tmpfs`: targets, each with options after a colon. */
export function readTmpfs(translation: Translation, node: Written): void {
  const { report } = translation
  for (const item of oneOrMany(node)) {
    const [target = '', written = ''] = (textOf(item) ?? '').split(':')
    const options = written === '' ? [] : written.split(',')
    const size = options.find((option) => option.startsWith('size='))
    const sizeBytes = bytesOf(size?.slice('size='.length))
    const others = options.filter((option) => option !== size && option !== 'rw')
    if (others.length > 0)
      report.changed(item, 'the options other than size are left out', 'A tmpfs of Holdfast has a size only.')
    const mount = { ...PLAIN, node: item, kind: 'tmpfs', target, copies: false } as const
    add(translation, sizeBytes === undefined ? mount : { ...mount, sizeBytes })
  }
}

function add({ report, draft, credentials }: Translation, mount: RequestedMount) {
  const target = mount.target.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
  if (!isMountTarget(target) || credentials.isIn(target)) return report.refused(mount.node, NO_TARGET)
  if (draft.mounts.some((other) => other.target === target))
    return report.refused(mount.node, 'Another mount of the service has the same target.')
  if (target !== mount.target)
    report.changed(mount.node, `the target is ${target}`, 'Targets of mounts are normal paths.')
  report.carried(mount.node)
  draft.mounts.push({ ...mount, target })
}
