// The watch over writers must see two of them at once, or the tests that find none prove nothing.

import { join } from 'node:path'
import { type Lab, type LabNode, startLab, waitUntil } from '@holdfast/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { firstStart, lastEnd, overlapsIn, type WriterWatch, watchWriters } from './watch-writers.ts'
import { pushWitness, readLines, WITNESS_GROUP } from './witness.ts'

let lab: Lab
let watch: WriterWatch
let image = ''
beforeAll(async () => {
  lab = await startLab({ tenants: ['acme'], nodesPerTenant: 2 })
  watch = await watchWriters(lab)
  image = await pushWitness(lab)
})
afterAll(async () => {
  await watch?.stop()
  await lab?.stop()
})

const nodeAt = (index: number): LabNode => {
  const node = lab.nodes[index]
  if (node === undefined) throw new Error(`the lab has no node ${index}`)
  return node
}
const dataOf = (node: LabNode): string => join(node.folder, 'data')
const countOn = (node: LabNode): number => readLines(join(dataOf(node), 'lines')).length

const runWriter = (node: LabNode, name: string, folder: string) =>
  node.exec([
    ...['docker', 'run', '--detach', '--name', name, '-v', `${folder}:/witness`],
    ...['--env', `${WITNESS_GROUP}=writer`, image],
  ])

async function startWriter(node: LabNode): Promise<void> {
  await runWriter(node, 'writer', dataOf(node))
  await untilWrites(node)
}
async function untilWrites(node: LabNode): Promise<void> {
  const before = countOn(node)
  await waitUntil(() => countOn(node) > before + 3, { what: `the witness on ${node.name} writes` })
}

test('sees writers that overlap on two machines, and no overlap while one of them is frozen', async () => {
  const [first, second] = [nodeAt(0), nodeAt(1)]
  await startWriter(first)
  lab.freeze(first)
  await startWriter(second)
  const apart = await watch.samples()
  expect(overlapsIn(apart)).toEqual([])
  const endMs = lastEnd(apart, first.name, 'writer') ?? Number.NaN
  expect(firstStart(apart, second.name, 'writer', 0)).toBeGreaterThanOrEqual(endMs)
  lab.thaw(first)
  await untilWrites(first)
  const together = await watch.samples()
  expect(overlapsIn(together)).toMatchObject([{ nodes: [first.name, second.name], toMs: undefined }])
  await lab.powerOff(second)
  const after = await watch.samples()
  // While the machine dies, several samples may still see both.
  const ended = overlapsIn(after)
  expect(new Set(ended.flatMap(({ nodes }) => nodes))).toEqual(new Set([first.name, second.name]))
  expect(ended.at(-1)?.toMs).toBeGreaterThan(0)
  expect(after.at(-1)?.writers).toEqual({ [first.name]: [expect.any(String)] })
  expect(new Set((await watch.nodeOfHost()).values())).toEqual(new Set([first.name, second.name]))
  console.log(`longest time between two samples: ${await watch.longestGapMs()} ms`)
})

test('sees two containers on one machine, and none that is stopped', async () => {
  const node = nodeAt(0)
  await runWriter(node, 'other', `${dataOf(node)}-2`)
  const areBothHere = ({ nodes }: { readonly nodes: readonly string[] }) =>
    nodes.every((name) => name === node.name)
  await waitUntil(async () => overlapsIn(await watch.samples()).some(areBothHere), {
    what: 'the second container is seen',
  })
  await node.exec(['docker', 'pause', 'other'])
  expect((await watch.samples()).at(-1)?.writers[node.name]).toHaveLength(1)
})
