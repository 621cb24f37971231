// Response shapes that the contract does not name.

import { type Infer, list, object, type Shape, type writtenShape } from '@holdfast/contract'

/** A list without pages. */
export const itemsShape = <T>(item: Shape<T>) => object({ items: list(item) })

export type Written = Infer<typeof writtenShape>
