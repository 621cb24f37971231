// A worker thread that compares the random changes of the seeds it receives, one seed after another.

import { parentPort } from 'node:worker_threads'
import { runChanges } from './run-changes.ts'

parentPort?.on('message', ({ seed }: { readonly seed: number }) => {
  void runChanges(seed).then((result) => parentPort?.postMessage(result))
})
