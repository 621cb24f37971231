import { expect, test } from 'vitest'
import { faultOf, lastLineOf } from './commands.ts'
import {
  decodeCount,
  decodeFileSystemId,
  decodeSubvolumeIds,
  decodeSubvolumes,
  decodeSuperblock,
  SUPERBLOCK,
} from './decode-output.ts'

// Output of btrfs-progs 6.2 on Linux 6.18.
const NONE = '-                                   '
const UUID = '24215bb2-9e4c-324c-9caa-f11a0c70899d'
const OTHER = '6916a138-6df8-fd4f-b155-a2413e4034ee'
const SENT = '89caab92-cac6-3947-95e7-3f3604e4547c'
const LIVE = `ID 256 gen 19 top level 5 received_uuid ${NONE} uuid ${UUID} path volumes/vol-a`
const RECEIVED = `ID 263 gen 21 top level 5 received_uuid ${SENT} uuid ${OTHER} path checkpoints/vol-a/1.2/1.2`

test('decodes the subvolumes that btrfs lists', () => {
  expect(decodeSubvolumes('')).toEqual([])
  expect(decodeSubvolumes(`${LIVE}\n${RECEIVED}\n`)).toEqual([
    { id: 256, generation: 19, uuid: UUID, receivedUuid: undefined, path: 'volumes/vol-a' },
    { id: 263, generation: 21, uuid: OTHER, receivedUuid: SENT, path: 'checkpoints/vol-a/1.2/1.2' },
  ])
})

test.each([
  ['a line of another form', `${LIVE}\nID 257 gen 9 path volumes/vol-b`],
  ['the rest of a name with a line feed', `${LIVE}\nvol-b`],
  ['one id twice', `${LIVE}\n${LIVE.replace('vol-a', 'vol-b')}`],
  ['one path twice', `${LIVE}\n${LIVE.replace('256', '300')}`],
])('rejects a list of subvolumes with %s', (_, output) => {
  expect(() => decodeSubvolumes(output)).toThrow(expect.objectContaining({ fault: 'unreadable' }))
})

test('decodes the ids of a list in which names have line feeds', () => {
  expect(decodeSubvolumeIds(`${LIVE}\nrest of a name\n${LIVE}\n${RECEIVED}\n`)).toEqual([256, 263])
})

test('decodes the file system id that btrfs shows', () => {
  const output = `Label: none  uuid: 1104addc-a805-40ce-ac7a-1c495aa952a4
\tTotal devices 1 FS bytes used 10698752
\tdevid    1 size 536870912 used 159383552 path /dev/loop0

`
  expect(decodeFileSystemId(output)).toBe('1104addc-a805-40ce-ac7a-1c495aa952a4')
  expect(() => decodeFileSystemId('')).toThrow('unknown form')
})

test('decodes a number of sysfs and rejects everything else', () => {
  expect(decodeCount('referenced', '10502144\n')).toBe(10_502_144)
  for (const text of ['', '-1', '1 2', 'none'])
    expect(() => decodeCount('referenced', text)).toThrow('unknown')
})

test('decodes the file system id of a superblock and finds none in other bytes', () => {
  const bytes = Buffer.alloc(SUPERBLOCK.length)
  expect(decodeSuperblock(bytes)).toBeUndefined()
  Buffer.from('1104addca80540ceac7a1c495aa952a4', 'hex').copy(bytes, 0x20)
  bytes.write('_BHRfS_M', 0x40, 'latin1')
  expect(decodeSuperblock(bytes)).toBe('1104addc-a805-40ce-ac7a-1c495aa952a4')
})

test.each([
  ['ERROR: cannot create subvolume: No space left on device', 1, 'full'],
  ['ERROR: writing to x failed: Disk quota exceeded', 1, 'full'],
  ['umount: /mnt: target is busy.', 32, 'busy'],
  ['ERROR: Could not statfs: No such file or directory', 1, 'failed'],
  ['', undefined, 'timeout'],
] as const)('classifies the last line %j with exit code %s as %s', (lastLine, exitCode, fault) => {
  expect(faultOf({ command: 'btrfs', exitCode, lastLine })).toBe(fault)
})

test('quotes the last line of stderr', () => {
  expect(lastLineOf('At subvol x\nERROR: unexpected header\n\n')).toBe('ERROR: unexpected header')
  expect(lastLineOf('')).toBe('')
})
