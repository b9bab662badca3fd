/** A priority queue by due time: a binary heap, because there may be a hundred thousand items. */

export interface DueQueue<Item> {
  /** Schedules an item; replaces its earlier due time. */
  set(item: Item, due: number): void;
  delete(item: Item): void;
  /** Removes and returns up to `max` items that are due: the earliest first, equal ones in the order in which they were set. */
  popDue(now: number, max: number): Item[];
}

interface Entry<Item> {
  readonly item: Item;
  readonly due: number;
  readonly order: number;
}

/** Stale entries stay in the heap until they are due, or until they outnumber the current ones by this many. */
const MIN_SWEPT = 64;

export function createDueQueue<Item>(): DueQueue<Item> {
  const current = new Map<Item, Entry<Item>>();
  /** A binary heap: no entry is before its parent, the one at half of its index. */
  let heap: Entry<Item>[] = [];
  let order = 0;

  const isCurrent = (entry: Entry<Item>) => current.get(entry.item) === entry;

  const sweep = () => {
    if (heap.length < 2 * current.size + MIN_SWEPT) return;
    // A sorted array is a heap.
    heap = heap.filter(isCurrent).sort((a, b) => (isBefore(a, b) ? -1 : 1));
  };

  return {
    set(item, due) {
      order += 1;
      const entry = { item, due, order };
      current.set(item, entry);
      push(heap, entry);
      sweep();
    },
    delete(item) {
      current.delete(item);
      sweep();
    },
    popDue(now, max) {
      const due: Item[] = [];
      for (let first = heap[0]; first !== undefined && first.due <= now && due.length < max; first = heap[0]) {
        pop(heap);
        if (!isCurrent(first)) continue;
        current.delete(first.item);
        due.push(first.item);
      }
      return due;
    },
  };
}

type Ordered = Pick<Entry<unknown>, 'due' | 'order'>;

const isBefore = (a: Ordered, b: Ordered): boolean => a.due < b.due || (a.due === b.due && a.order < b.order);

function push<E extends Ordered>(heap: E[], entry: E): void {
  let index = heap.length;
  for (;;) {
    const parentIndex = Math.floor((index - 1) / 2);
    const parent = heap[parentIndex];
    if (parent === undefined || isBefore(parent, entry)) break;
    heap[index] = parent;
    index = parentIndex;
  }
  heap[index] = entry;
}

/** Removes the first. */
function pop<E extends Ordered>(heap: E[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const leftIndex = 2 * index + 1;
    const [left, right] = [heap[leftIndex], heap[leftIndex + 1]];
    const isRight = left !== undefined && right !== undefined && isBefore(right, left);
    const child = isRight ? right : left;
    if (child === undefined || isBefore(last, child)) break;
    heap[index] = child;
    index = isRight ? leftIndex + 1 : leftIndex;
  }
  heap[index] = last;
}
