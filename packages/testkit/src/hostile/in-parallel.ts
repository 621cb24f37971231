// Many jobs, a few at a time, each worker on a connection of its own.

import { openRawConnection, type RawConnection } from './raw-connection.ts'

/** Workers take the jobs in order; a connection that the server ended is replaced. */
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
