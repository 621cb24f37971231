import { expect, test } from 'vitest'
import { diskText } from './disk.ts'

const GIB = 1024 ** 3
const disk = { totalBytes: 20 * GIB, freeBytes: 5 * GIB, inodes: 0, freeInodes: 0 }

test.each([
  ['without a report', undefined, ''],
  ['with bytes', disk, '75% used, 5GiB of 20GiB free'],
  ['with enough inodes', { ...disk, inodes: 100, freeInodes: 90 }, '75% used, 5GiB of 20GiB free'],
  [
    'with few inodes',
    { ...disk, inodes: 100, freeInodes: 10 },
    '75% used, 5GiB of 20GiB free, 90% of its inodes used',
  ],
])('the disk of a node %s', (_, engine, text) => {
  expect(diskText(engine === undefined ? {} : { disks: { engine } })).toBe(text)
})
