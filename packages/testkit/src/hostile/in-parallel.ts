// Runs many jobs with a few workers; each worker has its own connection.

import { openRawConnection, type RawConnection } from './raw-connection.ts'

/** Runs the jobs in order on several workers. A connection that the server has closed is replaced. */
export async function inParallel<T>(
  port: number,
  jobs: Iterable<T>,
  work: (job: T, connection: RawConnection) => Promise<void>,
  workers = 6,
): Promise<void> {
  const queue = jobs[Symbol.iterator]()
  const run = async () => {
    let connection = openRawConnection(port)
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      if (!connection.open) connection = openRawConnection(port)
      await work(next.value, connection)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: workers }, run))
}
