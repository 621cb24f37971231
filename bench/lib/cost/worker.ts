// The measured process: one build, which takes a turn on a hot path when the benchmark asks for it. Around each turn it runs
// empty POST requests, the unit of cost.

import { creates } from './creates.ts'
import { decisions } from './decisions.ts'
import { emptyPosts } from './empty-post.ts'
import type { HotPath } from './hot-path.ts'
import { placements } from './placements.ts'
import { resolves } from './resolves.ts'

export type PathName = 'create' | 'placement, 1 replica' | 'placement, 10 replicas' | 'decision' | 'resolve'

export interface TurnRequest {
  readonly path: PathName
  readonly operations: number
  /** Number of empty POST requests before the turn, and again after it. */
  readonly empty: number
}

/** CPU microseconds of one operation, and of one empty POST request at the same time. */
interface TurnAnswer {
  readonly micros: number
  readonly emptyMicros: number
}

const [standIn = '', image = '', stateFolder = ''] = process.argv.slice(2)
const { one, ten } = await placements()
const paths: { readonly [path in PathName]: HotPath } = {
  create: await creates({ standIn: Number(standIn), image, stateFolder }),
  'placement, 1 replica': one,
  'placement, 10 replicas': ten,
  decision: decisions(),
  resolve: await resolves(Number(standIn)),
}
const unit = emptyPosts()

async function takeTurn({ path, operations, empty }: TurnRequest): Promise<TurnAnswer> {
  const before = await unit.run(empty)
  const spent = await paths[path].run(operations)
  const after = await unit.run(empty)
  return {
    micros: spent.micros / spent.operations,
    emptyMicros: (before.micros + after.micros) / (before.operations + after.operations),
  }
}

process.on('message', (request: TurnRequest) => {
  void takeTurn(request).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
