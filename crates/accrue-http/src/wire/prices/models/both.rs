//! What a model is set up with, both ways: one declaration reads it, writes it, and describes both.

use std::marker::PhantomData;

use accrue::{Decimal, JsonNumber, PropertyName, WrittenDecimal};
use serde::{Serialize, Serializer};

use crate::{
    json::Json,
    shape::{Describe, Read, Reader, Schema, Sparse, Whole},
};

/// A value that comes in with a price and goes out with it: the two shapes of what the engine has.
pub(crate) trait Both {
    type Domain;
    type In: Read;
    type Out: Describe + Serialize;

    fn read(given: Self::In) -> Self::Domain;
    fn write(own: &Self::Domain) -> Self::Out;
}

/// What is alike on both sides.
macro_rules! alike {
    ($($type:ty,)*) => {$(
        impl Both for $type {
            type Domain = Self;
            type In = Self;
            type Out = Self;

            fn read(given: Self) -> Self {
                given
            }

            fn write(own: &Self) -> Self {
                own.clone()
            }
        }
    )*};
}

alike! {
    WrittenDecimal,
    PropertyName,
    String,
}

impl Both for JsonNumber {
    type Domain = Decimal;
    type In = Self;
    type Out = Self;

    fn read(given: Self) -> Decimal {
        given.0
    }

    fn write(own: &Decimal) -> Self {
        Self(own.clone())
    }
}

impl<const LEAST: i64, const MOST: i64> Both for Whole<LEAST, MOST> {
    type Domain = u64;
    type In = Self;
    type Out = u64;

    fn read(given: Self) -> u64 {
        u64::try_from(given.0).unwrap_or(0)
    }

    fn write(own: &u64) -> u64 {
        *own
    }
}

/// A whole number in a string, as some models have the size of a package.
#[derive(Clone, Debug)]
pub(crate) struct WholeText(u64);

impl Read for WholeText {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let number = Decimal::read(json, at, reader)?;
        match number.to_string().parse() {
            Ok(number) => Some(Self(number)),
            Err(_) => reader.wrong(at, format!("found {number}, expected a whole number")),
        }
    }
}

impl Describe for WholeText {
    fn schema() -> Schema {
        Schema::Decimal
    }
}

impl Serialize for WholeText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl Both for WholeText {
    type Domain = u64;
    type In = Self;
    type Out = Self;

    fn read(given: Self) -> u64 {
        given.0
    }

    fn write(own: &u64) -> Self {
        Self(*own)
    }
}

/// Is null where there is none.
impl<T: Both> Both for Option<T> {
    type Domain = Option<T::Domain>;
    type In = Option<T::In>;
    type Out = Option<T::Out>;

    fn read(given: Self::In) -> Self::Domain {
        given.map(T::read)
    }

    fn write(own: &Self::Domain) -> Self::Out {
        own.as_ref().map(T::write)
    }
}

/// Is left out where there is none, and may be null where it comes in.
impl<T: Both> Both for Sparse<T> {
    type Domain = Option<T::Domain>;
    type In = Option<T::In>;
    type Out = Sparse<T::Out>;

    fn read(given: Self::In) -> Self::Domain {
        given.map(T::read)
    }

    fn write(own: &Self::Domain) -> Self::Out {
        Sparse(own.as_ref().map(T::write))
    }
}

/// Is false where nothing is said, and is left out then.
impl Both for bool {
    type Domain = Self;
    type In = Option<Self>;
    type Out = Sparse<Self>;

    fn read(given: Option<Self>) -> Self {
        given.unwrap_or(false)
    }

    fn write(own: &Self) -> Sparse<Self> {
        Sparse(own.then_some(true))
    }
}

impl<T: Both> Both for Vec<T> {
    type Domain = Vec<T::Domain>;
    type In = Vec<T::In>;
    type Out = Vec<T::Out>;

    fn read(given: Self::In) -> Self::Domain {
        given.into_iter().map(T::read).collect()
    }

    fn write(own: &Self::Domain) -> Self::Out {
        own.iter().map(T::write).collect()
    }
}

/// A list that may be left out, and is empty then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed<T>(PhantomData<T>);

impl<T: Both> Both for Listed<T> {
    type Domain = Vec<T::Domain>;
    type In = Option<Vec<T::In>>;
    type Out = Vec<T::Out>;

    fn read(given: Self::In) -> Self::Domain {
        Vec::<T>::read(given.unwrap_or_default())
    }

    fn write(own: &Self::Domain) -> Self::Out {
        Vec::<T>::write(own)
    }
}

/// Declares what a model is set up with, and the rows of it: named as the engine has it, as it comes in, and as
/// it goes out.
macro_rules! configs {
    ($(
        $(#[doc = $doc:literal])*
        $domain:ident: $given:ident, $shown:ident {$(
            $(#[doc = $field_doc:literal])*
            $field:ident: $kind:ty,
        )*}
    )*) => {
        $crate::shape::request! {$(
            $(#[doc = $doc])*
            pub(crate) struct $given {$(
                $(#[doc = $field_doc])*
                $field: <$kind as $crate::wire::prices::models::both::Both>::In,
            )*}
        )*}

        $crate::shape::response! {$(
            $(#[doc = $doc])*
            pub(crate) struct $shown {$(
                $(#[doc = $field_doc])*
                $field: <$kind as $crate::wire::prices::models::both::Both>::Out,
            )*}
        )*}

        $(
            impl $crate::wire::prices::models::both::Both for accrue::price::$domain {
                type Domain = Self;
                type In = $given;
                type Out = $shown;

                fn read(given: $given) -> Self {
                    use $crate::wire::prices::models::both::Both;
                    Self { $($field: <$kind as Both>::read(given.$field),)* }
                }

                fn write(own: &Self) -> $shown {
                    use $crate::wire::prices::models::both::Both;
                    $shown { $($field: <$kind as Both>::write(&own.$field),)* }
                }
            }
        )*
    };
}

pub(super) use configs;
