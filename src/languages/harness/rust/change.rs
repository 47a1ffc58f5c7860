
/// Types of which another value can be made: of the same length where there is one, since what compares looks no further
/// where lengths differ.
pub trait Change: Sized {
    /// Another value.
    fn changed(&self) -> Option<Self>;
    /// Some value.
    fn sample() -> Option<Self>;
}

macro_rules! rolecall_integers {
    ($($kind:ident)*) => {$(
        impl Change for $kind {
            fn changed(&self) -> Option<Self> {
                Some(self.wrapping_add(1))
            }
            fn sample() -> Option<Self> {
                Some(0)
            }
        }
    )*};
}
rolecall_integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

macro_rules! rolecall_floats {
    ($($kind:ident)*) => {$(
        impl Change for $kind {
            fn changed(&self) -> Option<Self> {
                let next = *self + 1.0;
                Some(if self.is_nan() { 0.0 } else if next == *self { -*self } else { next })
            }
            fn sample() -> Option<Self> {
                Some(0.0)
            }
        }
    )*};
}
rolecall_floats!(f32 f64);

impl Change for bool {
    fn changed(&self) -> Option<Self> {
        Some(!*self)
    }
    fn sample() -> Option<Self> {
        Some(true)
    }
}
impl Change for char {
    fn changed(&self) -> Option<Self> {
        Some(if *self == 'x' { 'y' } else { 'x' })
    }
    fn sample() -> Option<Self> {
        Some('x')
    }
}
impl Change for String {
    fn changed(&self) -> Option<Self> {
        let mut other = self.clone();
        let last = other.pop();
        other.push(if last == Some('x') { 'y' } else { 'x' });
        Some(other)
    }
    fn sample() -> Option<Self> {
        Some(String::from("x"))
    }
}
impl Change for &str {
    fn changed(&self) -> Option<Self> {
        Change::changed(&String::from(*self)).map(|other| &*Box::leak(other.into_boxed_str()))
    }
    fn sample() -> Option<Self> {
        Some("x")
    }
}
impl<T: Change> Change for &T {
    fn changed(&self) -> Option<Self> {
        T::changed(*self).map(|other| &*Box::leak(Box::new(other)))
    }
    fn sample() -> Option<Self> {
        T::sample().map(|other| &*Box::leak(Box::new(other)))
    }
}
impl<T: Change> Change for Box<T> {
    fn changed(&self) -> Option<Self> {
        T::changed(&**self).map(Box::new)
    }
    fn sample() -> Option<Self> {
        T::sample().map(Box::new)
    }
}
impl<T: Change> Change for Option<T> {
    fn changed(&self) -> Option<Self> {
        match self {
            Some(_) => Some(None),
            None => T::sample().map(Some),
        }
    }
    fn sample() -> Option<Self> {
        Some(None)
    }
}
impl<T: Change, E: Change> Change for Result<T, E> {
    fn changed(&self) -> Option<Self> {
        match self {
            Ok(value) => value.changed().map(Ok),
            Err(error) => error.changed().map(Err),
        }
    }
    fn sample() -> Option<Self> {
        T::sample().map(Ok)
    }
}
impl<T: Change + Clone> Change for Vec<T> {
    fn changed(&self) -> Option<Self> {
        let mut other = self.clone();
        match other.first().and_then(T::changed) {
            Some(first) => other[0] = first,
            None => other.push(T::sample()?),
        }
        Some(other)
    }
    fn sample() -> Option<Self> {
        Some(Vec::new())
    }
}
impl<T: Change + Clone> Change for &[T] {
    fn changed(&self) -> Option<Self> {
        Change::changed(&self.to_vec()).map(|other| &*Vec::leak(other))
    }
    fn sample() -> Option<Self> {
        Some(&[])
    }
}
impl<T: Change + Clone, const N: usize> Change for [T; N] {
    fn changed(&self) -> Option<Self> {
        let mut other = self.clone();
        let first = other.first_mut()?;
        *first = first.changed()?;
        Some(other)
    }
    fn sample() -> Option<Self> {
        None
    }
}
impl<T: Change + Clone> Change for ::std::collections::VecDeque<T> {
    fn changed(&self) -> Option<Self> {
        let mut other = self.clone();
        match other.front().and_then(T::changed) {
            Some(first) => other[0] = first,
            None => other.push_back(T::sample()?),
        }
        Some(other)
    }
    fn sample() -> Option<Self> {
        Some(Self::new())
    }
}

macro_rules! rolecall_collections {
    ($($kind:ident [$($bound:tt)*])*) => {$(
        impl<T: Change + Clone + $($bound)*> Change for ::std::collections::$kind<T> {
            fn changed(&self) -> Option<Self> {
                let mut other = self.clone();
                let sample = T::sample()?;
                if !other.remove(&sample) {
                    other.insert(sample);
                }
                Some(other)
            }
            fn sample() -> Option<Self> {
                Some(Self::new())
            }
        }
    )*};
}
rolecall_collections!(BTreeSet[Ord] HashSet[Eq + ::std::hash::Hash]);

macro_rules! rolecall_maps {
    ($($kind:ident [$($bound:tt)*])*) => {$(
        impl<K: Change + Clone + $($bound)*, V: Change + Clone> Change for ::std::collections::$kind<K, V> {
            fn changed(&self) -> Option<Self> {
                let mut other = self.clone();
                let (key, value) = (K::sample()?, V::sample()?);
                if other.remove(&key).is_none() {
                    other.insert(key, value);
                }
                Some(other)
            }
            fn sample() -> Option<Self> {
                Some(Self::new())
            }
        }
    )*};
}
rolecall_maps!(BTreeMap[Ord] HashMap[Eq + ::std::hash::Hash]);

macro_rules! rolecall_tuples {
    ($(($($name:ident $at:tt)+))*) => {$(
        impl<First: Change $(, $name: Change + Clone)+> Change for (First, $($name),+) {
            fn changed(&self) -> Option<Self> {
                Some((self.0.changed()?, $(self.$at.clone()),+))
            }
            fn sample() -> Option<Self> {
                Some((First::sample()?, $($name::sample()?),+))
            }
        }
    )*};
}
rolecall_tuples!((A 1) (A 1 B 2) (A 1 B 2 C 3) (A 1 B 2 C 3 D 4) (A 1 B 2 C 3 D 4 E 5));
