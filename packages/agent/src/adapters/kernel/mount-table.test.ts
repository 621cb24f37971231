import { asVolumeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { createMountTable, parseMountTable } from './mount-table.ts'

const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const POINT = `/state/volumes/${VOLUME}`
const line = (root: string, point: string, type = 'btrfs') =>
  `36 35 0:45 ${root} ${point} rw,nosuid,nodev,noatime shared:1 - ${type} /dev/loop0 rw,subvolid=257`

test.each([
  ['the volume', [line(`/volumes/${VOLUME}`, POINT)], true],
  ['the volume of a pool that is a subvolume', [line(`/pool/volumes/${VOLUME}`, POINT)], true],
  ['nothing', [line('/', '/state/volumes')], false],
  ['another volume', [line('/volumes/vol_01JCPZ0000000000000000000B', POINT)], false],
  ['another file system', [line(`/volumes/${VOLUME}`, POINT, 'ext4')], false],
  ['another mount over the volume', [line(`/volumes/${VOLUME}`, POINT), line('/', POINT, 'tmpfs')], false],
  ['the volume over another mount', [line('/', POINT, 'tmpfs'), line(`/volumes/${VOLUME}`, POINT)], true],
  ['the volume elsewhere', [line(`/volumes/${VOLUME}`, `/other/${VOLUME}`)], false],
  ['no line at all', [''], false],
])('with %s at the mount point', async (_, lines, expected) => {
  const { isMounted } = createMountTable(async () => `${lines.join('\n')}\n`)
  expect(await isMounted(POINT, VOLUME)).toBe(expected)
})

test('reads escaped paths', () => {
  expect(parseMountTable(line('/', '/a\\040b\\134c'))).toEqual([
    { root: '/', point: '/a b\\c', type: 'btrfs' },
  ])
})
